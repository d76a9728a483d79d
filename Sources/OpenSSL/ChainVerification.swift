import COpenSSL
import Foundation

/// One run of libcrypto's chain verification.
///
/// Source: OpenSSL manual, `X509_verify_cert(3)`.
struct ChainVerification: ~Copyable {
    private let store: OwnedPointer
    private let untrusted: OwnedPointer
    private let context: OwnedPointer

    /// Sets up a run that trusts the roots and nothing else.
    ///
    /// The certificates must outlive it.
    init(leaf: Certificate, intermediates: [Certificate], roots: [Certificate]) throws(OpenSSLError) {
        let store = try OwnedPointer(X509_STORE_new(), release: X509_STORE_free, operation: "X509_STORE_new")
        for root in roots {
            try check(X509_STORE_add_cert(store.pointer, root.pointer.pointer), "X509_STORE_add_cert")
        }
        let untrusted = try OwnedPointer(
            copenssl_certificates_new(), release: copenssl_certificates_free, operation: "sk_X509_new_null")
        for certificate in intermediates {
            // It answers with the number of certificates.
            guard copenssl_certificates_push(untrusted.pointer, certificate.pointer.pointer) > 0 else {
                throw OpenSSLError(draining: "sk_X509_push")
            }
        }
        let context = try OwnedPointer(
            X509_STORE_CTX_new(), release: X509_STORE_CTX_free, operation: "X509_STORE_CTX_new")
        try check(
            X509_STORE_CTX_init(context.pointer, store.pointer, leaf.pointer.pointer, untrusted.pointer),
            "X509_STORE_CTX_init")
        self.store = store
        self.untrusted = untrusted
        self.context = context
    }

    // The context points at the store and the stack, so it lets go of them before they are released.
    deinit { X509_STORE_CTX_cleanup(context.pointer) }

    /// Sets the time of check, whole seconds being libcrypto's grain, and how strict to be.
    func configure(date: Date, securityLevel: CInt) throws(OpenSSLError) {
        guard let parameters = X509_STORE_CTX_get0_param(context.pointer),
            let seconds = time_t(exactly: date.timeIntervalSince1970.rounded(.down))
        else { throw OpenSSLError(draining: "X509_STORE_CTX_get0_param") }
        X509_VERIFY_PARAM_set_time(parameters, seconds)
        X509_VERIFY_PARAM_set_auth_level(parameters, securityLevel)
        try check(
            X509_VERIFY_PARAM_set_flags(parameters, UInt(X509_V_FLAG_X509_STRICT)), "X509_VERIFY_PARAM_set_flags")
    }

    /// Builds the chain and checks it.
    ///
    /// - Returns: The intermediate and the root of the chain.
    func run(
        intermediates: [Certificate], roots: [Certificate]
    ) -> Result<(intermediate: Certificate, root: Certificate), CertificateChainError> {
        let isValid = X509_verify_cert(context.pointer) == 1
        // What went wrong is in the context; the queue only repeats parts of it.
        OpenSSLError.clearQueue()
        guard isValid else { return .failure(error) }
        let chain = X509_STORE_CTX_get0_chain(context.pointer)
        guard copenssl_certificates_count(chain) == 3,
            let intermediate = Self.find(copenssl_certificates_get(chain, 1), among: intermediates),
            let root = Self.find(copenssl_certificates_get(chain, 2), among: roots)
        else {
            return .failure(.init(.leaf, .chainLength, text: "the chain is not leaf, intermediate and root"))
        }
        return .success((intermediate, root))
    }

    private static func find(_ pointer: OpaquePointer?, among certificates: [Certificate]) -> Certificate? {
        certificates.first { X509_cmp($0.pointer.pointer, pointer) == 0 }
    }

    /// Why the run failed.
    private var error: CertificateChainError {
        let code = X509_STORE_CTX_get_error(context.pointer)
        let text = X509_verify_cert_error_string(Int(code)).map { String(cString: $0) } ?? "unknown"
        let role: CertificateChainError.Role =
            switch X509_STORE_CTX_get_error_depth(context.pointer) {
            case ...0: .leaf
            case 1: .intermediate
            default: .root
            }
        return CertificateChainError(role, Self.reason(of: code, role), text: text)
    }

    private static func reason(
        of code: CInt, _ role: CertificateChainError.Role
    ) -> CertificateChainError.Reason {
        switch code {
        case X509_V_ERR_CERT_HAS_EXPIRED: .expired
        case X509_V_ERR_CERT_NOT_YET_VALID: .notYetValid
        case X509_V_ERR_CERT_SIGNATURE_FAILURE: .badSignature
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY,
            X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE, X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT,
            X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN, X509_V_ERR_CERT_UNTRUSTED:
            role == .leaf ? .issuerMismatch : .untrustedRoot
        case X509_V_ERR_INVALID_CA, X509_V_ERR_INVALID_NON_CA, X509_V_ERR_KEYUSAGE_NO_CERTSIGN,
            X509_V_ERR_PATH_LENGTH_EXCEEDED, X509_V_ERR_CA_BCONS_NOT_CRITICAL,
            X509_V_ERR_CA_CERT_MISSING_KEY_USAGE:
            .notCertificateAuthority
        case X509_V_ERR_CERT_CHAIN_TOO_LONG: .chainLength
        case X509_V_ERR_OUT_OF_MEM, X509_V_ERR_UNSPECIFIED: .library
        default: .rejected
        }
    }
}
