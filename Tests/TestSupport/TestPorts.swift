package import Domain
package import Foundation
package import Logging
import Synchronization

extension Services.Ports {
    /// The ports of tests: a real store, a fake App Store, and stand-ins for cryptography that can be followed by eye.
    ///
    /// A test replaces what it is about, and takes the rest as it is.
    ///
    /// - Parameters:
    ///   - store: keeps everything.
    ///   - changes: tells of its commits.
    ///   - appStore: plays Apple.
    ///   - verifier: takes for Apple's what it has been told of.
    ///   - signedData: likewise, of what apps hand over.
    ///   - receiptReader: reads the receipts that it has been told of.
    ///   - callbacks: remembers what is posted.
    ///   - audit: remembers what was done.
    ///   - clock: the clocks.
    ///   - copyID: names the copy of the daemon that they are of.
    ///   - logger: hears nothing unless a test listens.
    /// - Returns: the ports.
    package static func test(
        store: some Services.Store, changes: ChangeSignal, appStore: FakeAppStoreGateway,
        verifier: FakeNotificationVerifier = FakeNotificationVerifier(),
        signedData: FakeSignedDataChecker = FakeSignedDataChecker(),
        receiptReader: FakeReceiptReader = FakeReceiptReader(),
        callbacks: FakeCallbackTransport = FakeCallbackTransport(), audit: any AuditTrail = RememberedAudit(),
        clock: ServiceClock, copyID: String = UUID().uuidString,
        logger: Logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    ) -> Services.Ports {
        // The time of day of most tests stands still; were the other clock to go on, minutes would shift on a slow machine.
        let start = clock.monotonicNow()
        let budgets = RateBudgets(
            policy: RatePolicy(
                limits: [.production: ["Get Refund History": RateLimit(callsPerHour: 1000, reservedPercent: 20)]],
                quotas: ["billing": 500]),
            clock: BudgetClock(now: clock.now, monotonicNow: { start }))
        let pageTokens = PageTokenCoder(
            authenticationCode: TestCode.authenticationCode, encode: { Data($0).base64EncodedString() },
            decode: { Data(base64Encoded: $0).map(Array.init) })
        let credentials = Access.Credentials(
            issuerID: "11111111-2222-3333-4444-555555555555", digest: TestCode.authenticationCode,
            makeToken: TestCode.makeTokens(), makeKeyID: { "ABCDEFGHIJ" }, decodePublicKey: { $0 == "PEM" ? [1] : nil },
            readToken: { _ in nil })
        return Services.Ports(
            store: store, changes: changes, appStore: appStore, keys: FakeKeyAdministration(),
            signatures: FakeSignatures(), tokens: FakeSignatures(),
            audit: audit,
            verifier: verifier,
            signedData: signedData, receiptReader: receiptReader, budgets: budgets,
            pageTokens: pageTokens, credentials: credentials,
            callbacks: CallbackDelivery(
                transport: callbacks, secrets: PlainCallbackSecrets(), encoder: PlainCallbackEncoder()),
            clock: clock, copyID: copyID, makeID: TestCode.makeIDs(),
            makeSnapshotID: { UUID().uuidString }, digest: TestCode.authenticationCode, logger: logger)
    }
}

/// What stands for cryptography and randomness in tests.
package enum TestCode {
    /// Stands in for HMAC-SHA-256: FNV-1a, repeated to the same length.
    @Sendable package static func authenticationCode(_ content: [UInt8]) -> [UInt8] {
        let hash = content.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        return (0..<32).map { UInt8(truncatingIfNeeded: hash >> (UInt64($0 % 8) * 8)) }
    }

    /// Bearer tokens, each of bytes of its own in the place of random ones.
    package static func makeTokens() -> @Sendable () -> OpaqueToken {
        let last = Mutex<UInt8>(0)
        return {
            let number = last.withLock { last in
                last += 1
                return last
            }
            return OpaqueToken.generate { count in [UInt8](repeating: number, count: count) }
        }
    }

    /// Ids in the order in which they are asked for, in the form of a UUID of version 7.
    package static func makeIDs() -> @Sendable (Date) -> String {
        let last = Mutex(0)
        return { _ in
            let number = last.withLock { last in
                last += 1
                return last
            }
            return "018c0000-0000-7000-8000-" + String(String(number + 1_000_000_000_000).dropFirst())
        }
    }
}

/// Takes for Apple's what it has been told of, by the text of the signed notification, and fails as it is told.
package final class FakeNotificationVerifier: NotificationVerifier {
    private let answers = Mutex<[String: Result<AppleNotification, ServiceError>]>([:])
    private let asked = Mutex<[Requester]>([])
    private let bundleIDs = Mutex<[String: String]>([:])

    package init() {}

    /// For whom it has verified notifications.
    package var requesters: [Requester] { asked.withLock(\.self) }

    package func know(_ signed: String, as answer: Result<AppleNotification, ServiceError>) {
        answers.withLock { $0[signed] = answer }
    }

    /// Lets a notification be Apple's.
    package func know(_ notification: AppleNotification) { know(notification.signed, as: .success(notification)) }

    /// Lets what is signed so fail.
    package func fail(_ signed: String, with error: ServiceError) { know(signed, as: .failure(error)) }

    package func notification(
        _ signed: String, app: App, for requester: Requester
    ) async throws(ServiceError) -> AppleNotification {
        asked.withLock { $0.append(requester) }
        guard let answer = answers.withLock({ $0[signed] }) else {
            throw ServiceError(.signatureInvalid, "Apple did not sign this.", cause: "signature")
        }
        return try answer.get()
    }

    /// Lets what is signed so name a bundle id.
    package func name(_ bundleID: String, in signed: String) { bundleIDs.withLock { $0[signed] = bundleID } }

    /// What is signed is about the app that it names, and nothing else.
    package func subject(of signed: String) -> NotificationSubject {
        var subject = NotificationSubject()
        subject.bundleID = bundleIDs.withLock { $0[signed] } ?? "com.example.other"
        subject.type = "TEST"
        return subject
    }

    /// What is signed says its UUID alone.
    package func claims(of signed: String) -> NotificationClaims {
        guard case .success(let notification) = answers.withLock({ $0[signed] }) else {
            return NotificationClaims(notificationUUID: signed)
        }
        return NotificationClaims(
            notificationUUID: notification.notificationUUID, environment: notification.environment,
            signedAt: notification.signedDate.map(Date.init(milliseconds:)))
    }
}

/// Signs with nothing: what is given out is made of what was asked for.
package struct FakeSignatures: SignatureSource, TokenIssuer {
    package static let keyID = "ABCDEFGHIJ"
    package static let nonce = "11111111-2222-4333-8444-555555555555"

    package init() {}

    package func signature(for request: StoreKitRequest, app: App) async throws(ServiceError) -> StoreKitSignature {
        StoreKitSignature(
            value: "\(app.slug) \(request)", keyID: Self.keyID, nonce: Self.nonce,
            issuedAt: Date(timeIntervalSince1970: 1_700_000_000))
    }

    package func signature(
        for offer: OriginalPromotionalOffer, app: App
    ) async throws(ServiceError) -> OriginalPromotionalOfferSignature {
        OriginalPromotionalOfferSignature(
            value: Array("\(app.slug) \(offer.applicationUsername)".utf8), keyID: Self.keyID, nonce: Self.nonce,
            timestamp: 1_700_000_000_000)
    }

    package func issueToken(for app: App) async throws(ServiceError) -> BearerToken {
        BearerToken(
            value: "token of \(app.slug)", keyID: Self.keyID, generation: 1,
            issuedAt: Date(timeIntervalSince1970: 1_700_000_000), expiresAt: Date(timeIntervalSince1970: 1_700_000_600))
    }
}

/// Takes for Apple's what it has been told of, by the signed text, and else says that Apple did not sign it.
package final class FakeSignedDataChecker: SignedDataChecker {
    private let answers = Mutex<[String: Result<CheckedData, SignedDataFault>]>([:])
    private let trouble = Mutex<ServiceError?>(nil)

    package init() {}

    package func know(_ signed: String, as answer: Result<CheckedData, SignedDataFault>) {
        answers.withLock { $0[signed] = answer }
    }

    /// Lets a transaction be Apple's under a text of its own.
    package func know(_ signed: String, as transaction: Transaction) {
        know(
            signed,
            as: .success(
                CheckedData(
                    kind: .transaction, environment: transaction.environment,
                    data: VerifiedData(payload: transaction.payload, signed: signed), transaction: transaction,
                    originalTransactionID: transaction.originalTransactionID,
                    appTransactionID: transaction.appTransactionID)))
    }

    /// Makes every check fail.
    package func fail(with error: ServiceError?) { trouble.withLock { $0 = error } }

    package func check(
        _ signed: String, _ kind: SignedDataKind, app: App, for requester: Requester
    ) async throws(ServiceError) -> Result<CheckedData, SignedDataFault> {
        if let error = trouble.withLock(\.self) { throw error }
        return answers.withLock { $0[signed] }
            ?? .failure(SignedDataFault(.verificationFailure, "the JWS signature does not match"))
    }
}
