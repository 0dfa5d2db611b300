/*===- Exports.c - what a dylib exports -------------------------------------===
 *
 * Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===------------------------------------------------------------------------===
 *
 * A trie: each node has what its name so far means, if anything, and edges that
 * add to the name. A node is:
 *
 *   uleb    bytes of what it means, 0: nothing
 *   uleb    flags          of an export that is neither of another library nor
 *   uleb    address        resolved when it is asked for
 *   byte    edges, each:   text, uleb offset of a node
 *
 *===------------------------------------------------------------------------===*/

#include "test/apple/Image.h"

#include <stdlib.h>
#include <string.h>

enum { LONGEST = 256 }; /* of a name; edges are not empty, so of a path too */

typedef struct walk {
  image *image;
  span trie;
  uint8_t *visited; /* of each byte: a node that begins there */
  char name[LONGEST];
  exported found;
  void *user;
} walk;

static bool wrong(walk *walk, uint64_t node, const char *what) {
  return refuse(walk->image, "LC_DYLD_EXPORTS_TRIE: node %llu: %s",
                (unsigned long long)node, what);
}

static bool readMeaning(walk *walk, uint64_t node, size_t *at) {
  uint64_t size, flags, address;
  if (!readUleb(walk->trie, at, &size) || !fits(walk->trie.size, *at, size, 1))
    return wrong(walk, node, "what it means does not end");
  if (!size)
    return true;
  const size_t begin = *at;
  if (!readUleb(walk->trie, at, &flags) || !readUleb(walk->trie, at, &address))
    return wrong(walk, node, "what it means does not end");
  if (flags != EXPORT_SYMBOL_FLAGS_KIND_REGULAR)
    return wrong(walk, node,
                 "its export is weak, thread-local, absolute, of "
                 "another library or has a resolver");
  if (*at - begin != size)
    return wrong(walk, node, "what it means has another size than it says");
  if (!isIn(walk->image, address, 1, 0))
    return wrong(walk, node, "its address is in no segment");
  if (!walk->name[0])
    return wrong(walk, node, "an export has no name");
  return walk->found(walk->image, walk->name, address, walk->user);
}

static bool walkNode(walk *walk, uint64_t node, size_t length) {
  if (node >= walk->trie.size)
    return wrong(walk, node, "it is beyond the trie");
  if (walk->visited[node])
    return wrong(walk, node, "two edges lead to it");
  walk->visited[node] = 1;
  size_t at = node;
  if (!readMeaning(walk, node, &at))
    return false;
  if (at >= walk->trie.size)
    return wrong(walk, node, "its edges do not end");
  for (unsigned edges = walk->trie.bytes[at++]; edges; --edges) {
    const char *text = textAt(walk->trie, at);
    if (!text || !*text)
      return wrong(walk, node, "an edge has no text, or one that does not end");
    const size_t more = strlen(text);
    if (more >= LONGEST - length)
      return wrong(walk, node, "a name is longer than 255 bytes");
    memcpy(walk->name + length, text, more + 1);
    at += more + 1;
    uint64_t next;
    if (!readUleb(walk->trie, &at, &next))
      return wrong(walk, node, "its edges do not end");
    if (!walkNode(walk, next, length + more))
      return false;
  }
  walk->name[length] = 0;
  return true;
}

bool walkExports(image *image, exported found, void *user) {
  walk walk = {.image = image,
               .trie = dataOf(image, ONCE_EXPORTS),
               .found = found,
               .user = user};
  walk.visited = calloc(walk.trie.size ? walk.trie.size : 1, 1);
  if (!walk.visited)
    return refuse(image, "no memory for %zu bytes", walk.trie.size);
  const bool right = walkNode(&walk, 0, 0);
  free(walk.visited);
  return right;
}
