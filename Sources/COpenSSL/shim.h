// What Sources/OpenSSL needs of libcrypto 3: its headers, and typed forms of the macros and variadic functions that
// Swift cannot import.
#ifndef COPENSSL_SHIM_H
#define COPENSSL_SHIM_H

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/cms.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/objects.h>
#include <openssl/params.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

// What a key made of bare numbers consists of.
static const int copenssl_public_key = EVP_PKEY_PUBLIC_KEY;
static const int copenssl_key_pair = EVP_PKEY_KEYPAIR;

// The parts of a key made of bare numbers. A parameter keeps the pointer to its name, which for a string of Swift's
// would not live long enough.
static inline OSSL_PARAM copenssl_group_name(char *name) {
    return OSSL_PARAM_construct_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME, name, 0);
}
static inline OSSL_PARAM copenssl_public_point(void *octets, size_t count) {
    return OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PUB_KEY, octets, count);
}
static inline OSSL_PARAM copenssl_private_number(void *native_bytes, size_t count) {
    return OSSL_PARAM_construct_BN(OSSL_PKEY_PARAM_PRIV_KEY, (unsigned char *)native_bytes, count);
}

// A new key pair on the named curve.
static inline EVP_PKEY *copenssl_generate_ec_key(const char *curve) {
    return EVP_PKEY_Q_keygen(NULL, NULL, "EC", curve);
}

// A new RSA key pair; the size is a size_t among variadic arguments.
static inline EVP_PKEY *copenssl_generate_rsa_key(size_t bits) { return EVP_PKEY_Q_keygen(NULL, NULL, "RSA", bits); }

// The bytes that a memory BIO holds; they stay the BIO's. Returns their number.
static inline long copenssl_bio_contents(BIO *bio, const char **contents) {
    return BIO_get_mem_data(bio, (char **)contents);
}

// Stacks of certificates, which do not own what is pushed.
static inline STACK_OF(X509) *copenssl_certificates_new(void) { return sk_X509_new_null(); }
static inline void copenssl_certificates_free(STACK_OF(X509) *stack) { sk_X509_free(stack); }
static inline int copenssl_certificates_push(STACK_OF(X509) *stack, X509 *certificate) {
    return sk_X509_push(stack, certificate);
}
static inline int copenssl_certificates_count(const STACK_OF(X509) *stack) { return sk_X509_num(stack); }
static inline X509 *copenssl_certificates_get(const STACK_OF(X509) *stack, int index) {
    return sk_X509_value(stack, index);
}

static inline void copenssl_certificates_free_all(STACK_OF(X509) *stack) { sk_X509_pop_free(stack, X509_free); }

// The signers of signed data, which stay its own.
static inline int copenssl_signers_count(CMS_ContentInfo *data) {
    return sk_CMS_SignerInfo_num(CMS_get0_SignerInfos(data));
}
static inline CMS_SignerInfo *copenssl_signers_get(CMS_ContentInfo *data, int index) {
    return sk_CMS_SignerInfo_value(CMS_get0_SignerInfos(data), index);
}

// Whether an error means that there was no memory, and says nothing about what was looked at.
static inline int copenssl_is_out_of_memory(unsigned long code) {
    return ERR_GET_REASON(code) == ERR_R_MALLOC_FAILURE;
}

// Stacks of general names, which own what is pushed.
static inline int copenssl_general_names_push(GENERAL_NAMES *names, GENERAL_NAME *name) {
    return sk_GENERAL_NAME_push(names, name);
}
static inline int copenssl_general_names_count(const GENERAL_NAMES *names) { return sk_GENERAL_NAME_num(names); }

// The characters of a general name that is a URI, which stay the name's; NULL for one of another kind.
static inline const ASN1_STRING *copenssl_general_names_uri(const GENERAL_NAMES *names, int index) {
    const GENERAL_NAME *name = sk_GENERAL_NAME_value(names, index);
    return name != NULL && name->type == GEN_URI ? name->d.uniformResourceIdentifier : NULL;
}

// A table of the multiples of a group's base point, and a point's coordinates without the division that makes them affine:
// the affine x is x / z^2 modulo the field's prime. Both functions are called deprecated since 3.0, where the EVP functions
// that are to replace them offer neither; docs/decisions/0012-precomputed-leaf-keys.md weighs it. A libcrypto without them
// makes no tables.
#if OPENSSL_VERSION_MAJOR == 3 && !defined(OPENSSL_NO_DEPRECATED_3_0)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
static inline int copenssl_precompute_multiples(EC_GROUP *group, BN_CTX *context) {
    return EC_GROUP_precompute_mult(group, context) == 1 && EC_GROUP_have_precompute_mult(group) == 1;
}
static inline int copenssl_jacobian_coordinates(
    const EC_GROUP *group, const EC_POINT *point, BIGNUM *x, BIGNUM *z, BN_CTX *context) {
    return EC_POINT_get_Jprojective_coordinates_GFp(group, point, x, NULL, z, context);
}
#pragma GCC diagnostic pop
#else
static inline int copenssl_precompute_multiples(EC_GROUP *group, BN_CTX *context) { return 0; }
static inline int copenssl_jacobian_coordinates(
    const EC_GROUP *group, const EC_POINT *point, BIGNUM *x, BIGNUM *z, BN_CTX *context) {
    return 0;
}
#endif

// One line for people, control characters escaped, in UTF-8.
static inline int copenssl_print_name(BIO *bio, const X509_NAME *name) {
    return X509_NAME_print_ex(bio, name, 0, XN_FLAG_ONELINE & ~ASN1_STRFLGS_ESC_MSB);
}

static inline int copenssl_name_add(X509_NAME *name, const char *field, const unsigned char *text, int count) {
    return X509_NAME_add_entry_by_txt(name, field, MBSTRING_UTF8, text, count, -1, 0);
}

// An extension from OpenSSL's configuration syntax, such as "critical,CA:TRUE"; issuer and subject serve key
// identifiers.
static inline X509_EXTENSION *copenssl_extension(X509 *issuer, X509 *subject, int nid, const char *value) {
    X509V3_CTX context = {0};
    X509V3_set_ctx(&context, issuer, subject, NULL, NULL, 0);
    return X509V3_EXT_nconf_nid(NULL, &context, nid, value);
}

#endif
