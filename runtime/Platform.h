//===- Platform.h - what the runtime needs of a platform --------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is a platform's own, by one small file each (PlatformLinux.cpp,
// PlatformDarwin.cpp); memory, threads and files, which POSIX platforms have
// alike (PlatformMemory.cpp, PlatformThreads.cpp, PlatformFiles.cpp); and which
// features this CPU has, by one an architecture and, where the platform has to
// be asked, by that (CpuX86.cpp, CpuArm.cpp, CpuArmLinux.cpp,
// PlatformDarwin.cpp). A test may define these functions in their place.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_RUNTIME_PLATFORM_H
#define KVC_RUNTIME_PLATFORM_H

#include <stddef.h>
#include <stdint.h>

namespace kvc::runtime {

/// Bits of kvc_gen_model.features for x86-64. Each says that the CPU has the
/// instructions and that the operating system saves the registers they use.
enum CpuFeature : int64_t {
  CpuAvx2 = 1 << 0, ///< with AVX
  CpuFma = 1 << 1,
  CpuF16c = 1 << 2,
  CpuBmi2 = 1 << 3, ///< with BMI1
  CpuLzcnt = 1 << 4,
  CpuMovbe = 1 << 5,
  /// SSE3, SSSE3, SSE4.1, SSE4.2, POPCNT, CMPXCHG16B, LAHF.
  CpuX86_64V2 = 1 << 6,
  CpuAvx512 = 1 << 7, ///< F, BW, CD, DQ and VL

  /// All that x86-64-v3 asks for. The runtime itself is compiled for this.
  CpuX86_64V3 =
      CpuAvx2 | CpuFma | CpuF16c | CpuBmi2 | CpuLzcnt | CpuMovbe | CpuX86_64V2,
  CpuX86_64V4 = CpuX86_64V3 | CpuAvx512,
};

/// The same for aarch64. Floating point and 128-bit vectors are in all of them.
enum CpuFeatureArm : int64_t {
  ArmCrc32 = 1 << 0,
  ArmAtomics = 1 << 1,
  ArmRounding = 1 << 2, ///< SQRDMLAH and SQRDMLSH
  ArmHalf = 1 << 3,     ///< arithmetic of f16, of scalars and of vectors
  ArmDotProduct = 1 << 4,
  /// What a compiler may use of Apple's M1: Armv8.4-A with the features that it
  /// has. No platform asks for them one by one: all Macs have them.
  ArmAppleM1 = 1 << 5,
  // Of later CPUs by Apple.
  ArmBf16 = 1 << 6,
  ArmI8mm = 1 << 7,
  ArmSme = 1 << 8,
  ArmCssc = 1 << 9,

  /// What a compiler may use of Armv8.2-A with FP16 and DotProd. The runtime
  /// itself is compiled for this.
  ArmV8_2 = ArmCrc32 | ArmAtomics | ArmRounding | ArmHalf | ArmDotProduct,
};

/// The features that this CPU has.
int64_t cpuFeatures();

/// What people call one feature, e.g. "AVX2"; null for a bit without a name.
const char *cpuFeatureName(int64_t bit);

/// `bytes` of zeros on a 64-byte boundary, or null. For pages and tables that
/// vector code reads; touches all of it.
void *allocatePage(size_t bytes);

/// `count` zeroed elements of `bytes` each, aligned as malloc aligns, or null.
/// For tables: what is large and never touched costs no memory.
void *allocateTable(size_t count, size_t bytes);

/// Give back what one of the two returned; null is allowed.
void release(void *memory);

/// Of what was released, the system gets back what the C library keeps. For
/// when much was: it looks at all that the process has.
void returnMemory();

/// The platform's own, as it wants them: open() before use, and false where it
/// fails; close() after a successful one.
class Mutex {
public:
  bool open();
  void close();
  void lock();
  void unlock();

private:
  friend class Condition;
  alignas(16) char storage[64];
};

class Condition {
public:
  bool open();
  void close();
  void wait(Mutex &mutex);
  void wakeAll();

private:
  alignas(16) char storage[64];
};

class Thread {
public:
  bool start(void *(*function)(void *), void *argument);
  void join();

private:
  void *handle;
};

/// Bytes that this thread has to itself until it ends, the same at each call;
/// zero at first. Null where memory is short; and, unless `make`, where it has
/// none yet.
void *threadBytes(size_t bytes, bool make);

/// A file, read or written from its begin to its end.
class File {
public:
  bool openToRead(const char *path);
  /// A new one, which its owner alone can read and write. The name ends in
  /// XXXXXX, in whose place come characters that no other file there has.
  bool create(char *name);
  /// Bytes of a file that is read; -1 where nobody knows.
  int64_t size();
  size_t read(void *bytes, size_t count);
  /// Whether a read gave less because it failed, not because the file ended.
  bool readFailed();
  bool write(const void *bytes, size_t count);
  /// Who may read and write it: the low 12 bits of POSIX's mode.
  bool setMode(uint32_t mode);
  /// What was written is on its device.
  bool sync();
  /// False where what was written is not in the file.
  bool close();

private:
  void *handle;
};

/// What a path names, behind all links.
struct FileState {
  enum Kind { Regular, Folder, Other } kind;
  uint32_t mode; ///< as File::setMode takes it
};
bool describeFile(const char *path, FileState &state);
/// What POSIX calls st_mode, which has the kind above the mode.
inline FileState fileStateOf(uint32_t stMode) {
  const uint32_t kind = stMode & 0170000;
  return {kind == 0100000   ? FileState::Regular
          : kind == 0040000 ? FileState::Folder
                            : FileState::Other,
          stMode & 07777};
}

/// Writes what a link names to `target`, without a NUL: how many bytes, `room`
/// at most; -1 where it fails.
int64_t readLink(const char *path, char *target, size_t room);
/// `from` takes the name `to`, at once and in place of what has it.
bool renameFile(const char *from, const char *to);
void removeFile(const char *path);
/// The names in a folder are on its device. False where the device failed; a
/// folder that this process may not read, or whose file system syncs none, is
/// left as it is.
bool syncFolder(const char *path);
/// Why the last of these functions failed on this thread: a number that is not
/// 0, and what it says.
int64_t fileError();
const char *fileErrorText(int64_t error);
/// There is nothing of that name; it is no link.
bool isMissing(int64_t error);
bool isNoLink(int64_t error);

/// Let another thread have this CPU.
void yieldThread();

} // namespace kvc::runtime

#endif // KVC_RUNTIME_PLATFORM_H
