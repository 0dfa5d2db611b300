//===- VulkanDevice.cpp - run a compute kernel, for tests -----------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/vulkan/VulkanDevice.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace kvc::test {

[[noreturn]] static void fail(const std::string &why) {
  std::fprintf(stderr, "vulkan: %s\n", why.c_str());
  std::exit(2);
}

static void check(VkResult result, const char *what) {
  if (result != VK_SUCCESS)
    fail(std::string(what) + " gives VkResult " + std::to_string(result));
}

void VulkanDevice::choose() {
  uint32_t count = 0;
  check(vkEnumeratePhysicalDevices(instance, &count, nullptr), "no devices");
  std::vector<VkPhysicalDevice> all(count);
  check(vkEnumeratePhysicalDevices(instance, &count, all.data()), "no devices");
  for (VkPhysicalDevice one : all) {
    uint32_t families = 0;
    vkGetPhysicalDeviceQueueFamilyProperties(one, &families, nullptr);
    std::vector<VkQueueFamilyProperties> of(families);
    vkGetPhysicalDeviceQueueFamilyProperties(one, &families, of.data());
    for (uint32_t i = 0; i < families; ++i) {
      if (!(of[i].queueFlags & VK_QUEUE_COMPUTE_BIT))
        continue;
      physical = one;
      family = i;
      VkPhysicalDeviceSubgroupProperties subgroups = {};
      subgroups.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES;
      VkPhysicalDeviceProperties2 properties = {};
      properties.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
      properties.pNext = &subgroups;
      vkGetPhysicalDeviceProperties2(physical, &properties);
      deviceName = properties.properties.deviceName;
      subgroupSize = subgroups.subgroupSize;
      return;
    }
  }
  fail("no Vulkan device that computes");
}

void VulkanDevice::open() {
  VkPhysicalDeviceVulkan11Features halfBuffers = {};
  halfBuffers.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES;
  VkPhysicalDeviceVulkan12Features numbers = {};
  numbers.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
  numbers.pNext = &halfBuffers;
  VkPhysicalDeviceFeatures2 features = {};
  features.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
  features.pNext = &numbers;
  vkGetPhysicalDeviceFeatures2(physical, &features);
  if (!numbers.shaderFloat16 || !features.features.shaderInt16)
    fail(deviceName + " has no 16-bit numbers");
  halves = halfBuffers.storageBuffer16BitAccess;

  // Those that kernels use, and no others.
  VkPhysicalDeviceVulkan11Features ask11 = {};
  ask11.sType = halfBuffers.sType;
  ask11.storageBuffer16BitAccess = halves;
  VkPhysicalDeviceVulkan12Features ask12 = {};
  ask12.sType = numbers.sType;
  ask12.pNext = &ask11;
  ask12.shaderFloat16 = VK_TRUE;
  VkPhysicalDeviceFeatures2 ask = {};
  ask.sType = features.sType;
  ask.pNext = &ask12;
  ask.features.shaderInt16 = VK_TRUE;

  const float priority = 1;
  VkDeviceQueueCreateInfo queues = {};
  queues.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO;
  queues.queueFamilyIndex = family;
  queues.queueCount = 1;
  queues.pQueuePriorities = &priority;
  VkDeviceCreateInfo info = {};
  info.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
  info.pNext = &ask;
  info.queueCreateInfoCount = 1;
  info.pQueueCreateInfos = &queues;
  check(vkCreateDevice(physical, &info, nullptr, &device), "vkCreateDevice");
  vkGetDeviceQueue(device, family, 0, &queue);
}

uint32_t VulkanDevice::hostMemory(uint32_t types) const {
  VkPhysicalDeviceMemoryProperties memory;
  vkGetPhysicalDeviceMemoryProperties(physical, &memory);
  const VkMemoryPropertyFlags wanted = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
                                       VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  for (uint32_t i = 0; i < memory.memoryTypeCount; ++i)
    if ((types & (1u << i)) &&
        (memory.memoryTypes[i].propertyFlags & wanted) == wanted)
      return i;
  fail("no memory that the host sees");
}

//===----------------------------------------------------------------------===//
// A kernel and its memory
//===----------------------------------------------------------------------===//

/// A buffer, mapped as long as it lives.
struct VulkanDevice::Memory {
  Memory(const VulkanDevice &owner, size_t size) : device(owner.device) {
    VkBufferCreateInfo info = {};
    info.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
    info.size = std::max<size_t>(size, 4);
    info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT;
    check(vkCreateBuffer(device, &info, nullptr, &buffer), "vkCreateBuffer");
    VkMemoryRequirements needs;
    vkGetBufferMemoryRequirements(device, buffer, &needs);
    VkMemoryAllocateInfo allocate = {};
    allocate.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
    allocate.allocationSize = needs.size;
    allocate.memoryTypeIndex = owner.hostMemory(needs.memoryTypeBits);
    check(vkAllocateMemory(device, &allocate, nullptr, &memory),
          "vkAllocateMemory");
    check(vkBindBufferMemory(device, buffer, memory, 0), "vkBindBufferMemory");
    check(vkMapMemory(device, memory, 0, VK_WHOLE_SIZE, 0, &mapped),
          "vkMapMemory");
  }
  ~Memory() {
    vkDestroyBuffer(device, buffer, nullptr);
    vkFreeMemory(device, memory, nullptr);
  }

  VkDevice device;
  VkBuffer buffer = VK_NULL_HANDLE;
  VkDeviceMemory memory = VK_NULL_HANDLE;
  void *mapped = nullptr;
};

/// A pipeline with its descriptors.
struct VulkanDevice::Kernel {
  Kernel(const VulkanDevice &owner, const std::vector<uint32_t> &words,
         const std::string &entry, uint32_t buffers, uint32_t constantBytes)
      : device(owner.device) {
    makeLayout(buffers, constantBytes);
    makePipeline(words, entry);
    VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, buffers};
    VkDescriptorPoolCreateInfo info = {};
    info.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO;
    info.maxSets = 1;
    info.poolSizeCount = 1;
    info.pPoolSizes = &size;
    check(vkCreateDescriptorPool(device, &info, nullptr, &pool),
          "vkCreateDescriptorPool");
    VkDescriptorSetAllocateInfo allocate = {};
    allocate.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO;
    allocate.descriptorPool = pool;
    allocate.descriptorSetCount = 1;
    allocate.pSetLayouts = &setLayout;
    check(vkAllocateDescriptorSets(device, &allocate, &set),
          "vkAllocateDescriptorSets");
    VkCommandPoolCreateInfo commands = {};
    commands.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
    commands.queueFamilyIndex = owner.family;
    check(vkCreateCommandPool(device, &commands, nullptr, &commandPool),
          "vkCreateCommandPool");
  }
  ~Kernel() {
    vkDestroyCommandPool(device, commandPool, nullptr);
    vkDestroyDescriptorPool(device, pool, nullptr);
    vkDestroyPipeline(device, pipeline, nullptr);
    vkDestroyShaderModule(device, shader, nullptr);
    vkDestroyPipelineLayout(device, layout, nullptr);
    vkDestroyDescriptorSetLayout(device, setLayout, nullptr);
  }

  void makeLayout(uint32_t buffers, uint32_t constantBytes) {
    std::vector<VkDescriptorSetLayoutBinding> bindings(buffers);
    for (uint32_t i = 0; i < buffers; ++i) {
      bindings[i] = {};
      bindings[i].binding = i;
      bindings[i].descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
      bindings[i].descriptorCount = 1;
      bindings[i].stageFlags = VK_SHADER_STAGE_COMPUTE_BIT;
    }
    VkDescriptorSetLayoutCreateInfo info = {};
    info.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO;
    info.bindingCount = buffers;
    info.pBindings = bindings.data();
    check(vkCreateDescriptorSetLayout(device, &info, nullptr, &setLayout),
          "vkCreateDescriptorSetLayout");
    VkPushConstantRange constants = {VK_SHADER_STAGE_COMPUTE_BIT, 0,
                                     constantBytes};
    VkPipelineLayoutCreateInfo whole = {};
    whole.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO;
    whole.setLayoutCount = 1;
    whole.pSetLayouts = &setLayout;
    whole.pushConstantRangeCount = 1;
    whole.pPushConstantRanges = &constants;
    check(vkCreatePipelineLayout(device, &whole, nullptr, &layout),
          "vkCreatePipelineLayout");
  }

  void makePipeline(const std::vector<uint32_t> &words,
                    const std::string &entry) {
    VkShaderModuleCreateInfo info = {};
    info.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO;
    info.codeSize = words.size() * sizeof(uint32_t);
    info.pCode = words.data();
    check(vkCreateShaderModule(device, &info, nullptr, &shader),
          "vkCreateShaderModule");
    VkComputePipelineCreateInfo compute = {};
    compute.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO;
    compute.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
    compute.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
    compute.stage.module = shader;
    compute.stage.pName = entry.c_str();
    compute.layout = layout;
    check(vkCreateComputePipelines(device, VK_NULL_HANDLE, 1, &compute, nullptr,
                                   &pipeline),
          "vkCreateComputePipelines");
  }

  void bind(const std::vector<std::unique_ptr<Memory>> &buffers) {
    for (uint32_t i = 0; i < buffers.size(); ++i) {
      VkDescriptorBufferInfo info = {buffers[i]->buffer, 0, VK_WHOLE_SIZE};
      VkWriteDescriptorSet write = {};
      write.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET;
      write.dstSet = set;
      write.dstBinding = i;
      write.descriptorCount = 1;
      write.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
      write.pBufferInfo = &info;
      vkUpdateDescriptorSets(device, 1, &write, 0, nullptr);
    }
  }

  void dispatch(VkQueue queue, const std::vector<int32_t> &constants,
                uint32_t groups) {
    VkCommandBufferAllocateInfo allocate = {};
    allocate.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
    allocate.commandPool = commandPool;
    allocate.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
    allocate.commandBufferCount = 1;
    VkCommandBuffer commands;
    check(vkAllocateCommandBuffers(device, &allocate, &commands),
          "vkAllocateCommandBuffers");
    VkCommandBufferBeginInfo begin = {};
    begin.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
    begin.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
    check(vkBeginCommandBuffer(commands, &begin), "vkBeginCommandBuffer");
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
    vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, layout, 0,
                            1, &set, 0, nullptr);
    vkCmdPushConstants(
        commands, layout, VK_SHADER_STAGE_COMPUTE_BIT, 0,
        static_cast<uint32_t>(constants.size() * sizeof(int32_t)),
        constants.data());
    vkCmdDispatch(commands, groups, 1, 1);
    VkMemoryBarrier toHost = {};
    toHost.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER;
    toHost.srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT;
    toHost.dstAccessMask = VK_ACCESS_HOST_READ_BIT;
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                         VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &toHost, 0, nullptr,
                         0, nullptr);
    check(vkEndCommandBuffer(commands), "vkEndCommandBuffer");
    VkSubmitInfo submit = {};
    submit.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
    submit.commandBufferCount = 1;
    submit.pCommandBuffers = &commands;
    check(vkQueueSubmit(queue, 1, &submit, VK_NULL_HANDLE), "vkQueueSubmit");
    check(vkQueueWaitIdle(queue), "vkQueueWaitIdle");
  }

  VkDevice device;
  VkDescriptorSetLayout setLayout = VK_NULL_HANDLE;
  VkPipelineLayout layout = VK_NULL_HANDLE;
  VkShaderModule shader = VK_NULL_HANDLE;
  VkPipeline pipeline = VK_NULL_HANDLE;
  VkDescriptorPool pool = VK_NULL_HANDLE;
  VkDescriptorSet set = VK_NULL_HANDLE;
  VkCommandPool commandPool = VK_NULL_HANDLE;
};

//===----------------------------------------------------------------------===//
// The device
//===----------------------------------------------------------------------===//

VulkanDevice::VulkanDevice() {
  VkApplicationInfo application = {};
  application.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO;
  application.apiVersion = VK_API_VERSION_1_2;
  VkInstanceCreateInfo info = {};
  info.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
  info.pApplicationInfo = &application;
  check(vkCreateInstance(&info, nullptr, &instance), "vkCreateInstance");
  choose();
  open();
}

VulkanDevice::~VulkanDevice() {
  kernel.reset();
  if (device)
    vkDestroyDevice(device, nullptr);
  if (instance)
    vkDestroyInstance(instance, nullptr);
}

void VulkanDevice::load(const std::vector<uint32_t> &words,
                        const std::string &entry, uint32_t buffers,
                        uint32_t constants) {
  kernel = std::make_unique<Kernel>(*this, words, entry, buffers,
                                    constants * sizeof(int32_t));
}

void VulkanDevice::run(const std::vector<Bytes *> &buffers,
                       const std::vector<int32_t> &constants, uint32_t groups) {
  std::vector<std::unique_ptr<Memory>> memory;
  for (Bytes *buffer : buffers) {
    memory.push_back(std::make_unique<Memory>(*this, buffer->size()));
    std::memcpy(memory.back()->mapped, buffer->data(), buffer->size());
  }
  kernel->bind(memory);
  kernel->dispatch(queue, constants, groups);
  for (size_t i = 0; i < buffers.size(); ++i)
    std::memcpy(buffers[i]->data(), memory[i]->mapped, buffers[i]->size());
}

} // namespace kvc::test
