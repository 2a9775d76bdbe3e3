// SPDX-License-Identifier: Apache-2.0
#include "profile/disassembly.h"

#include <gtest/gtest.h>

namespace ako {
namespace {

TEST(Disassembly, TellsAmdInstructionsApart) {
  EXPECT_EQ(classify_amd("v_mfma_f32_32x32x8_f16").kind, "matrix");
  EXPECT_EQ(classify_amd("v_add_f32_e32").kind, "vector");
  EXPECT_EQ(classify_amd("s_waitcnt").kind, "wait");
  EXPECT_EQ(classify_amd("s_barrier").kind, "barrier");
  EXPECT_EQ(classify_amd("s_load_dwordx4").kind, "scalar_memory");
  EXPECT_EQ(classify_amd("s_add_u32").kind, "scalar");
  EXPECT_EQ(classify_amd("ds_read_b128").kind, "lds");
  EXPECT_EQ(classify_amd("ds_bpermute_b32").kind, "exchange");
  EXPECT_EQ(classify_amd("ds_add_u32").kind, "atomic");
  EXPECT_EQ(classify_amd("global_atomic_add_f32").kind, "atomic");
  EXPECT_EQ(classify_amd("scratch_store_dword").kind, "scratch");
}

TEST(Disassembly, TellsHowWideAmdAccessesAre) {
  EXPECT_EQ(classify_amd("global_load_dwordx4").bytes, 16);
  EXPECT_EQ(classify_amd("buffer_load_dwordx2").bytes, 8);
  EXPECT_EQ(classify_amd("global_load_ushort").bytes, 2);
  EXPECT_EQ(classify_amd("global_load_ubyte").bytes, 1);
  EXPECT_TRUE(classify_amd("global_store_dwordx3").store);
  EXPECT_EQ(classify_amd("global_store_dwordx3").bytes, 12);
}

TEST(Disassembly, TellsNvidiaInstructionsApart) {
  EXPECT_EQ(classify_sass("HGMMA.64x128x16.F32.BF16").kind, "matrix");
  EXPECT_EQ(classify_sass("HMMA.16816.F32").kind, "matrix");
  EXPECT_EQ(classify_sass("LDG.E.128").bytes, 16);
  EXPECT_EQ(classify_sass("STG.E.U16").bytes, 2);
  EXPECT_TRUE(classify_sass("STG.E").store);
  EXPECT_EQ(classify_sass("LDS.128").kind, "lds");
  EXPECT_EQ(classify_sass("STL.64").kind, "scratch");
  EXPECT_EQ(classify_sass("BAR.SYNC.DEFER_BLOCKING").kind, "barrier");
  EXPECT_EQ(classify_sass("FFMA").kind, "vector");
  EXPECT_EQ(classify_sass("UIADD3").kind, "scalar");
}

TEST(Disassembly, CountsByKernel) {
  auto mixes = read_objdump(
      "\nk.hsaco:\tfile format elf64-amdgpu\n\nDisassembly of section .text:\n\n<scale>:\n"
      "\ts_load_dwordx4 s[0:3], s[4:5], 0x0\n\tglobal_load_dwordx4 v[0:3], v0, s[0:1]\n"
      "\tglobal_store_dword v0, v1, s[2:3]\n\ts_endpgm\n\n<other>:\n\tv_mov_b32_e32 v0, 0\n");
  EXPECT_EQ(mixes.at("scale").total(), 4);
  EXPECT_EQ(mixes.at("scale").global_load_bytes.at(16), 1);
  EXPECT_EQ(mixes.at("scale").global_store_bytes.at(4), 1);
  EXPECT_EQ(mixes.at("other").classes.at("vector"), 1);
}

TEST(Disassembly, ReadsPredicatedNvidiaCode) {
  auto mixes = read_nvdisasm(
      "\t.section\t.text.scale,\"ax\",@progbits\nscale:\n"
      "        /*0000*/                   LDC R1, c[0x0][0x28] ;\n"
      "        /*0010*/              @!P0 LDG.E.64 R4, desc[UR4][R2.64] ;\n"
      "        /*0020*/                   EXIT ;\n");
  EXPECT_EQ(mixes.at("scale").total(), 3);
  EXPECT_EQ(mixes.at("scale").global_load_bytes.at(8), 1);
}

}  // namespace
}  // namespace ako
