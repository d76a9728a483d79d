package import Domain
import Foundation
import JOSE
import JSON
package import OpenSSL

/// Verifies data that the App Store signed, offline: nothing but the token, our pinned roots and the signing date.
///
/// The steps are those of Apple's own libraries with online checks off: three certificates up to a root of ours (the
/// token's third is only counted), valid at the signing date, Apple's marker extensions on leaf and intermediate, the
/// ES256 signature, then app and environment as the kind of data names them.
/// Source: https://developer.apple.com/documentation/appstoreserverapi/jws_x5c_header
package struct SignedDataVerifier: Sendable {
    /// The marker extension of a leaf that signs App Store data.
    static let leafExtension = "1.2.840.113635.100.6.11.1"
    /// The marker extension of Apple's intermediate.
    static let intermediateExtension = "1.2.840.113635.100.6.2.1"

    /// How many certificates `x5c` holds.
    private static let chainLength = 3

    private let roots: [Certificate]
    private let chains: ChainCache
    private let now: WallClock

    /// A verifier that trusts these roots alone.
    ///
    /// `now` dates data that does not say when it was signed.
    package init(
        roots: [Certificate], now: @escaping WallClock,
        monotonicNow: @escaping @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now }
    ) {
        self.roots = roots
        chains = ChainCache(capacity: 64, lifetime: .seconds(3600), now: monotonicNow)
        self.now = now
    }

    /// A verified payload.
    package struct Verified: Sendable {
        /// The decoded payload, byte for byte, checked to be one well-formed JSON object.
        package let payload: [UInt8]
        let members: JSONMembers
    }

    /// Verifies one signed payload of an app in an environment.
    ///
    /// - Parameters:
    ///   - compact: the compact JWS.
    ///   - kind: what it is said to be, which decides where it names its app and environment.
    ///   - app: whose it must be.
    ///   - environment: where it must come from.
    /// - Returns: the payload with its members.
    /// - Throws: `appleAnswerInvalid`, or `environmentNotSupported` for data that Xcode signed.
    package func verify(
        _ compact: String, _ kind: SignedDataKind, app: App, environment: AppStoreEnvironment
    ) throws(ServiceError) -> Verified {
        do throws(SignedDataFault) {
            let data = try read(compact, kind)
            let verified = try authenticate(data, known: knownSigner(of: data))
            if let fault = data.origin.fault(kind, app: app, environment: environment) { throw fault }
            return verified
        } catch {
            if error.status == .environmentNotSupported { throw ServiceError(.environmentNotSupported, error.detail) }
            throw ServiceError(
                .appleAnswerInvalid, "Data that should be signed by Apple did not verify; it is not passed on.",
                cause: error.detail)
        }
    }

    /// Verifies the chain of a token.
    private func signer(of token: CompactJWS, at date: Date) throws -> ChainCache.TrustedSigner {
        let verifiedAt = chains.now()
        let header = try token.parseHeader()
        guard let certificates = header.certificateChain, certificates.count == Self.chainLength else {
            throw SignedDataFault(.invalidChainLength, "x5c does not hold three certificates")
        }
        let chain = try CertificateChain.verify(
            leaf: certificates[0], intermediate: certificates[1], roots: roots, at: date,
            requiredLeafExtension: Self.leafExtension, requiredIntermediateExtension: Self.intermediateExtension)
        return ChainCache.TrustedSigner(
            certificates: Array(certificates.prefix(2)),
            signer: try KnownSigner(header: header, key: chain.leafPublicKey), validity: chain.validity,
            verifiedAt: verifiedAt)
    }

    /// The signer whom a token names, if that chain has been verified before.
    private func knownSigner(of token: CompactJWS, at date: Date) -> ChainCache.TrustedSigner? {
        if let trusted = chains.trusted(token.protectedHeader, at: date) { return trusted }
        // A chain that is known may come with another header.
        guard chains.count > 0, let header = try? token.parseHeader(), let certificates = header.certificateChain,
            certificates.count == Self.chainLength
        else { return nil }
        return try? chains.trusted(Array(certificates.prefix(2)), of: header, at: date)
    }
}

// MARK: The steps

extension SignedDataVerifier {
    /// Signed data that has been read; nothing in it is to be believed before it is authenticated.
    struct Unverified: Sendable {
        let origin: SignedDataOrigin
        fileprivate let token: CompactJWS
        fileprivate let payload: [UInt8]
        fileprivate let members: JSONMembers
    }

    /// Reads a signed payload.
    ///
    /// - Throws: `invalidJWTFormat`, or `environmentNotSupported` for data that Xcode signed.
    func read(_ compact: String, _ kind: SignedDataKind) throws(SignedDataFault) -> Unverified {
        let data = try Self.judging(.invalidJWTFormat) { () throws in
            let token = try CompactJWS(compact)
            let payload = try token.decodePayload()
            let members = try JSONScanner.members(of: payload)
            return Unverified(
                origin: SignedDataOrigin(of: kind, members), token: token, payload: payload, members: members)
        }
        try Self.refuseLocalData(data.origin)
        return data
    }

    /// Who claims to have signed the data, if those certificates have been verified before, so that authenticating the
    /// data is quick.
    func knownSigner(of data: Unverified) -> ChainCache.TrustedSigner? {
        knownSigner(of: data.token, at: date(of: data))
    }

    /// Checks that Apple signed the data.
    ///
    /// `known`: its signer, as ``knownSigner(of:)`` has found it; nil has its chain verified.
    ///
    /// - Returns: the payload with its members, whosever it is.
    /// - Throws: the check that failed.
    func authenticate(
        _ data: Unverified, known: ChainCache.TrustedSigner?
    ) throws(SignedDataFault) -> Verified {
        try Self.judging(.verificationFailure) { () throws in
            let trusted = try known ?? signer(of: data.token, at: date(of: data))
            try data.token.verify(with: trusted.signer)
            chains.use(trusted)
            return Verified(payload: data.payload, members: data.members)
        }
    }

    /// When the data says it was signed; now when it does not say.
    private func date(of data: Unverified) -> Date {
        data.origin.signedDate.map { Date(timeIntervalSince1970: TimeInterval($0) / 1000) } ?? now()
    }

    /// Runs a step; whatever goes wrong in it means that the data is not what Apple signed.
    ///
    /// `status`: what failed, where the error does not say it better.
    private static func judging<Value>(
        _ status: SignedDataFault.Status, _ step: () throws -> Value
    ) throws(SignedDataFault) -> Value {
        do {
            return try step()
        } catch let fault as SignedDataFault {
            throw fault
        } catch let error as JOSEError {
            throw SignedDataFault(self.status(of: error), "\(error)")
        } catch let error as CertificateChainError {
            throw SignedDataFault(
                error.reason == .malformed ? .invalidCertificate : .verificationFailure, "\(error)")
        } catch {
            throw SignedDataFault(status, "\(error)")
        }
    }

    private static func status(of error: JOSEError) -> SignedDataFault.Status {
        switch error {
        case .tooLarge, .malformed, .invalidBase64URL, .invalidHeader, .unsupportedAlgorithm, .criticalHeader,
            .invalidClaims:
            .invalidJWTFormat
        case .invalidCertificateChain: .invalidCertificate
        case .invalidSignatureLength, .invalidSignature, .headerMismatch, .library: .verificationFailure
        }
    }

    /// Data that Xcode signs locally looks alike but proves nothing; it has an error of its own so that nobody hunts for a
    /// broken chain.
    private static func refuseLocalData(_ origin: SignedDataOrigin) throws(SignedDataFault) {
        guard let name = origin.environment, name == "Xcode" || name == "LocalTesting" else { return }
        throw SignedDataFault(
            .environmentNotSupported,
            "This data comes from the environment \(name), which is signed locally and refused here.")
    }
}

/// Which app and environment signed data says it belongs to, and when it was signed: each kind says so in its own place.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/jwstransactiondecodedpayload,
/// https://developer.apple.com/documentation/appstoreserverapi/jwsrenewalinfodecodedpayload,
/// https://developer.apple.com/documentation/appstoreserverapi/jwsapptransactiondecodedpayload,
/// https://developer.apple.com/documentation/appstoreservernotifications/responsebodyv2decodedpayload,
/// https://developer.apple.com/documentation/retentionmessaging/decodedrealtimerequestbody
struct SignedDataOrigin: Sendable {
    let bundleID: String?
    let appAppleID: Int64?
    /// Apple's name of the environment.
    let environment: String?
    /// UNIX milliseconds.
    let signedDate: Int64?

    init(of kind: SignedDataKind, _ payload: JSONMembers) {
        let subject = kind == .notification ? Self.subject(of: payload) : payload
        bundleID = subject?["bundleId"]?.string?.streamSafe
        appAppleID = subject?["appAppleId"]?.int64
        signedDate = payload[kind == .appTransaction ? "receiptCreationDate" : "signedDate"]?.int64
        environment =
            switch kind {
            case .appTransaction: payload["receiptType"]?.string?.streamSafe
            case .notification: Self.environment(of: subject, payload)
            case .transaction, .renewalInfo, .realtimeRequest: payload["environment"]?.string?.streamSafe
            }
    }

    /// What a notification is about; it has one of these.
    private static func subject(of payload: JSONMembers) -> JSONMembers? {
        for name in ["data", "summary", "externalPurchaseToken", "appData"] {
            if let subject = payload[name]?.object { return subject }
        }
        return nil
    }

    /// A token for purchases outside the App Store tells its environment by the beginning of its id.
    private static func environment(of subject: JSONMembers?, _ payload: JSONMembers) -> String? {
        guard payload["data"]?.object == nil, payload["summary"]?.object == nil,
            let token = payload["externalPurchaseToken"]?.object
        else { return subject?["environment"]?.string?.streamSafe }
        guard let id = token["externalPurchaseId"]?.string else { return nil }
        return (id.utf8.starts(with: "SANDBOX".utf8) ? AppStoreEnvironment.sandbox : .production).rawValue
    }

    /// Why the data is not this app's in this environment, or nil when it is.
    ///
    /// Renewal information names no bundle id, and a realtime request none either. Apple's numeric id is there in Production
    /// only, and is checked where the configuration names it.
    func fault(_ kind: SignedDataKind, app: App, environment: AppStoreEnvironment) -> SignedDataFault? {
        if kind != .renewalInfo, kind != .realtimeRequest, bundleID != app.bundleID {
            return SignedDataFault(.invalidAppIdentifier, ServiceError.otherAppCause)
        }
        if kind != .transaction, kind != .renewalInfo, environment == .production, let expected = app.appAppleID,
            appAppleID != expected
        {
            return SignedDataFault(.invalidAppIdentifier, "appAppleId is not the app's")
        }
        return self.environment == environment.rawValue
            ? nil : SignedDataFault(.invalidEnvironment, "environment is not \(environment.rawValue)")
    }
}
