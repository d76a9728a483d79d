package import Domain
import Foundation
import JSON

/// Checks data that an app hands us: whether Apple signed it, what it is, and whether it is the app's.
package struct SignedDataAuthenticator: SignedDataChecker {
    /// How many checks of unknown chains wait for room at most; a request makes one at a time.
    static let maximumWaiting = 256

    private let decoder: SignedDataDecoder
    private let bound: ChainCheckBound

    /// `concurrentChecks`: how many unknown chains are checked at the same time.
    ///
    /// Room of its own, beside that of notifications: what customers' devices send must not keep Apple waiting.
    package init(
        verifier: SignedDataVerifier, meter: UpstreamMeter,
        concurrentChecks: Int = ChainCheckBound.defaultConcurrency
    ) {
        self.init(
            verifier: verifier, meter: meter,
            bound: ChainCheckBound(underWay: concurrentChecks, waiting: Self.maximumWaiting))
    }

    init(verifier: SignedDataVerifier, meter: UpstreamMeter, bound: ChainCheckBound) {
        decoder = SignedDataDecoder(verifier: verifier, meter: meter)
        self.bound = bound
    }

    package func check(
        _ signed: String, _ kind: SignedDataKind, app: App, for requester: Requester
    ) async throws(ServiceError) -> Result<CheckedData, SignedDataFault> {
        let result: Result<CheckedData, SignedDataFault>
        switch try await bound.authenticated(signed, kind, by: decoder.verifier, for: requester) {
        case .success(let data):
            do throws(SignedDataFault) {
                result = .success(try decode(data, signed, kind, app))
            } catch {
                result = .failure(error)
            }
        case .failure(let fault): result = .failure(fault)
        }
        switch result {
        case .success: decoder.meter.countVerification("verified")
        case .failure(let fault): decoder.meter.countVerification(fault.status.rawValue)
        }
        return result
    }

    private func decode(
        _ data: ChainCheckBound.Authenticated, _ signed: String, _ kind: SignedDataKind, _ app: App
    ) throws(SignedDataFault) -> CheckedData {
        let members = data.verified.members
        guard Self.marks(kind).allSatisfy({ members[$0] != nil }) else {
            throw SignedDataFault(.invalidKind, "Apple signed this, but it is no \(kind.rawValue)")
        }
        guard let environment = data.origin.environment.flatMap(AppStoreEnvironment.init(rawValue:)) else {
            throw SignedDataFault(.invalidEnvironment, "it names neither of Apple's two environments")
        }
        if let fault = data.origin.fault(kind, app: app, environment: environment) { throw fault }
        guard app.environments.contains(environment) else {
            throw SignedDataFault(.invalidEnvironment, "the app is not configured for \(environment.rawValue)")
        }
        var transaction: Transaction?
        if kind == .transaction {
            transaction = decoder.transaction(
                data.verified, signed: signed, from: SignedDataDecoder.Origin(app: app, environment: environment))
            guard transaction != nil else {
                throw SignedDataFault(.invalidKind, "a field that every transaction has is missing or of another type")
            }
        }
        return CheckedData(
            kind: kind, environment: environment,
            data: VerifiedData(payload: data.verified.payload, signed: signed), transaction: transaction,
            originalTransactionID: members["originalTransactionId"]?.string?.streamSafe,
            appTransactionID: members["appTransactionId"]?.string?.streamSafe)
    }

    /// Members that each payload of a kind has, and those of no other kind have all of.
    private static func marks(_ kind: SignedDataKind) -> [String] {
        switch kind {
        case .transaction: ["transactionId", "originalTransactionId", "purchaseDate"]
        case .renewalInfo: ["autoRenewStatus"]
        case .appTransaction: ["receiptType"]
        case .notification: ["notificationUUID"]
        case .realtimeRequest: ["requestIdentifier", "originalTransactionId"]
        }
    }
}

extension ChainCheckBound {
    /// What Apple signed, whosever it is.
    struct Authenticated: Sendable {
        let verified: SignedDataVerifier.Verified
        let origin: SignedDataOrigin
    }

    /// Reads data and checks that Apple signed it; only a chain that is not known yet has to find room.
    ///
    /// - Throws: `verificationBusy`.
    func authenticated(
        _ signed: String, _ kind: SignedDataKind, by verifier: SignedDataVerifier, for requester: Requester
    ) async throws(ServiceError) -> Result<Authenticated, SignedDataFault> {
        let data: SignedDataVerifier.Unverified
        do throws(SignedDataFault) {
            data = try verifier.read(signed, kind)
            if let known = verifier.knownSigner(of: data) {
                return .success(
                    Authenticated(verified: try verifier.authenticate(data, known: known), origin: data.origin))
            }
        } catch {
            return .failure(error)
        }
        return try await check(for: requester) { () throws(ServiceError) in
            Result { () throws(SignedDataFault) in
                // Whoever was checked meanwhile may have made the chain known.
                let known = verifier.knownSigner(of: data)
                return Authenticated(verified: try verifier.authenticate(data, known: known), origin: data.origin)
            }
        }
    }
}
