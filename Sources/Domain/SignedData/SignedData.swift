/// What Apple signs; the raw values are our API's words.
package enum SignedDataKind: String, Sendable, CaseIterable {
    case transaction
    case renewalInfo
    case appTransaction
    case notification
    case realtimeRequest

    /// What may come from an app, or from whoever Apple asks in real time; notifications have a route of their own.
    package static let fromApps: [SignedDataKind] = [.transaction, .renewalInfo, .appTransaction, .realtimeRequest]
}

/// Data that an app hands over to be verified.
package struct SignedItem: Sendable, Equatable {
    package let kind: SignedDataKind
    /// A compact JWS, as StoreKit or Apple's server gave it out.
    package let signed: String
}

/// Which check data did not pass that should be signed by Apple, and why.
package struct SignedDataFault: Error, Sendable, Equatable {
    /// The names of Apple's own libraries' `VerificationStatus`, and two of ours.
    ///
    /// Source: https://apple.github.io/app-store-server-library-node/enums/VerificationStatus.html; `INVALID_JWT_FORMAT` is
    /// the Swift library's.
    package enum Status: String, Sendable, CaseIterable {
        /// It is no compact JWS with ES256 and a JSON object in it.
        case invalidJWTFormat = "INVALID_JWT_FORMAT"
        /// Its header does not hold three certificates.
        case invalidChainLength = "INVALID_CHAIN_LENGTH"
        /// One of them is none.
        case invalidCertificate = "INVALID_CERTIFICATE"
        /// They do not lead to Apple's root or were not valid then, or the signature does not match.
        case verificationFailure = "VERIFICATION_FAILURE"
        /// It is another app's.
        case invalidAppIdentifier = "INVALID_APP_IDENTIFIER"
        /// It is of an environment that the app is not configured for.
        case invalidEnvironment = "INVALID_ENVIRONMENT"
        /// Ours: it is signed by Apple, but of another kind than it was said to be.
        case invalidKind = "INVALID_KIND"
        /// Ours: Xcode or a local test signed it.
        case environmentNotSupported = "ENVIRONMENT_NOT_SUPPORTED"
    }

    package let status: Status
    /// In one sentence, without anything of the data.
    package let detail: String

    package init(_ status: Status, _ detail: String) {
        self.status = status
        self.detail = detail
    }
}

/// Data that Apple signed for an app, verified offline.
package struct CheckedData: Sendable {
    package let kind: SignedDataKind
    package let environment: AppStoreEnvironment
    package let data: VerifiedData
    /// The whole transaction, of that kind.
    package let transaction: Transaction?
    package let originalTransactionID: String?
    /// The Apple Account in the app, where the data names it.
    package let appTransactionID: String?

    package init(
        kind: SignedDataKind, environment: AppStoreEnvironment, data: VerifiedData, transaction: Transaction? = nil,
        originalTransactionID: String? = nil, appTransactionID: String? = nil
    ) {
        self.kind = kind
        self.environment = environment
        self.data = data
        self.transaction = transaction
        self.originalTransactionID = originalTransactionID
        self.appTransactionID = appTransactionID
    }
}

/// Tells whether Apple signed what an app hands over, without asking anybody.
package protocol SignedDataChecker: Sendable {
    /// Verifies and decodes data of one kind, in whichever environment of the app it says it is from.
    ///
    /// Renewal information names no app, and a realtime request in the sandbox none either: that Apple signed them is all
    /// that is known.
    /// - Parameters:
    ///   - signed: the data.
    ///   - kind: what it is said to be.
    ///   - app: whose it must be.
    ///   - requester: whose share of the checks it uses, where its certificate chain is unknown.
    /// - Returns: the data, or the check that it did not pass.
    /// - Throws: `verificationBusy` when too many unknown certificate chains are being checked already.
    func check(
        _ signed: String, _ kind: SignedDataKind, app: App, for requester: Requester
    ) async throws(ServiceError) -> Result<CheckedData, SignedDataFault>
}

/// Whose share is used of what anybody can make us do before he has proved anything: requesters take turns, however much each
/// of them asks for.
package enum Requester: Sendable, Hashable {
    /// Somebody who has proved who it is, or the service itself.
    case known(Actor)
    /// Anybody else, by where the request came from (``SourceNetwork``); nil where nobody who is trusted tells, which is one source.
    case stranger(from: String?)
}
