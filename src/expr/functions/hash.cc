// Hash functions: lower-case hexadecimal text of the UTF-8 bytes' digest.
#include <fmt/format.h>
#include <openssl/evp.h>

#include "expr/functions/families.h"
#include "expr/functions/signature_pattern.h"
#include "expr/kernel.h"
#include "expr/string_output.h"

namespace caudal {
namespace {

void SetDigest(std::string_view text, const EVP_MD* algorithm, int32_t row, StringOutput* out) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  if (EVP_Digest(text.data(), text.size(), digest, &size, algorithm, nullptr) != 1) return out->SetNull(row);
  char* to = out->Reserve(size * 2);
  for (unsigned int i = 0; i < size; ++i) {
    to[2 * i] = "0123456789abcdef"[digest[i] >> 4];
    to[2 * i + 1] = "0123456789abcdef"[digest[i] & 15];
  }
  out->Commit(row, size * 2);
}

// The text of a digest has a fixed length.
template <int32_t kLength>
Result<Signature> ResolveDigest(std::span<const Type> args, std::span<const Value* const>) {
  ASSIGN_OR_RETURN(Signature signature, MatchSignature("t>S", args));
  signature.result = Type::Char(kLength).WithNullable(signature.result.nullable());
  return signature;
}
Result<Signature> ResolveSha2(std::span<const Type> args, std::span<const Value* const>) {
  ASSIGN_OR_RETURN(Signature signature, MatchSignature("ti>S", args));
  signature.result = Type::VarChar(128).WithNullable(signature.result.nullable());
  return signature;
}

template <const EVP_MD* (*kAlgorithm)()>
ColumnPtr DigestKernel(KernelCall& call) {
  StringOutput out(call.physical_rows);
  const ColumnView<StringView> texts(*call.args[0]);
  ForEachRow(call.rows, [&](int32_t row) { SetDigest(texts[row].view(), kAlgorithm(), row, &out); });
  return out.Finish(call.expr.type);
}

const EVP_MD* Sha2Algorithm(int32_t bits) {
  switch (bits) {
    case 224:
      return EVP_sha224();
    case 256:
      return EVP_sha256();
    case 384:
      return EVP_sha384();
    case 512:
      return EVP_sha512();
    default:
      return nullptr;
  }
}

ColumnPtr Sha2Kernel(KernelCall& call) {
  StringOutput out(call.physical_rows);
  const ColumnView<StringView> texts(*call.args[0]);
  const ColumnView<int32_t> bits(*call.args[1]);
  ForEachRow(call.rows, [&](int32_t row) {
    const EVP_MD* algorithm = Sha2Algorithm(bits[row]);
    if (algorithm != nullptr) return SetDigest(texts[row].view(), algorithm, row, &out);
    call.errors.Add(row, fmt::format("SHA2 has no digest of {} bits (224, 256, 384 or 512)", bits[row]));
    out.SetNull(row);
  });
  return out.Finish(call.expr.type);
}

constexpr std::string_view kFamilyHash = "hash";

const ScalarFunction kHash[] = {
    {"MD5", kFamilyHash, "The MD5 digest.", "MD5('abc')", "900150983cd24fb0d6963f7d28e17f72",
     ResolveDigest<32>, DigestKernel<EVP_md5>},
    {"SHA1", kFamilyHash, "The SHA-1 digest.", "SHA1('abc')", "a9993e364706816aba3e25717850c26c9cd0d89d",
     ResolveDigest<40>, DigestKernel<EVP_sha1>},
    {"SHA224", kFamilyHash, "The SHA-224 digest.", "SHA224('abc')",
     "23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7", ResolveDigest<56>, DigestKernel<EVP_sha224>},
    {"SHA256", kFamilyHash, "The SHA-256 digest.", "SHA256('abc')",
     "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", ResolveDigest<64>,
     DigestKernel<EVP_sha256>},
    {"SHA384", kFamilyHash, "The SHA-384 digest.", "LEFT(SHA384('abc'), 16)", "cb00753f45a35e8b",
     ResolveDigest<96>, DigestKernel<EVP_sha384>},
    {"SHA512", kFamilyHash, "The SHA-512 digest.", "LEFT(SHA512('abc'), 16)", "ddaf35a193617aba",
     ResolveDigest<128>, DigestKernel<EVP_sha512>},
    {"SHA2", kFamilyHash, "The SHA-2 digest of 224, 256, 384 or 512 bits.", "LEFT(SHA2('abc', 256), 8)",
     "ba7816bf", ResolveSha2, Sha2Kernel},
};

}  // namespace

std::span<const ScalarFunction> HashFunctions() { return kHash; }

}  // namespace caudal
