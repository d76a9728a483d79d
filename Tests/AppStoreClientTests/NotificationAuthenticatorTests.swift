import CoreMetrics
import Domain
import Foundation
import JOSE
import Metrics
import TestSupport
import Testing

@testable import AppStoreClient

/// What is accepted at the webhook, and how what is not is told apart.
struct NotificationAuthenticatorTests {
    private let signer: TestSigner
    private let app = UpstreamFixture.app
    private let requester = Requester.stranger(from: "192.0.2.1")
    private static let subject = #""bundleId":"com.example.coins","appAppleId":1,"environment":"Production""#

    init() throws { signer = try TestSigner() }

    private func authenticator(
        _ bound: ChainCheckBound = ChainCheckBound(underWay: 1, waiting: 10)
    ) -> NotificationAuthenticator {
        NotificationAuthenticator(
            verifier: signer.verifier, meter: UpstreamMeter(factory: NOOPMetricsHandler.instance), bound: bound)
    }

    private func notification(
        _ members: String, type: String = "NEW_ONE", by signer: TestSigner? = nil
    ) throws -> String {
        try (signer ?? self.signer).sign(
            #"{"notificationType":"\#(type)","notificationUUID":"u","signedDate":1700000000000,\#(members)}"#)
    }

    /// Why a notification is refused; nil when it is taken.
    private func refusal(_ signed: String, app: App? = nil) async -> ServiceError? {
        do throws(ServiceError) {
            _ = try await authenticator().notification(signed, app: app ?? self.app, for: requester)
            return nil
        } catch {
            return error
        }
    }

    // MARK: What Apple signed for us

    @Test func `types and members that nobody knows are taken, from the environment that is named`() async throws {
        let taken = try await authenticator().notification(
            try notification(#""subtype":"LATER","data":{\#(Self.subject),"new":1}"#), app: app, for: requester)
        #expect(taken.notificationType == "NEW_ONE" && taken.subtype == "LATER" && taken.notificationUUID == "u")
        #expect(taken.environment == .production && taken.signedDate == 1_700_000_000_000)
        #expect(taken.transaction == nil && taken.appTransactionID == nil && taken.consumptionRequestReason == nil)
        let sandbox = try notification(#""data":{"bundleId":"com.example.coins","environment":"Sandbox"}"#)
        #expect(try await authenticator().notification(sandbox, app: app, for: requester).environment == .sandbox)
    }

    @Test(arguments: [
        ("TEST", #""data":{SUBJECT}"#), ("RENEWAL_EXTENSION", #""summary":{SUBJECT,"succeededCount":5}"#),
        (
            "EXTERNAL_PURCHASE_TOKEN",
            #""externalPurchaseToken":{"externalPurchaseId":"x","bundleId":"com.example.coins","appAppleId":1}"#
        ),
    ])
    func `notifications without a transaction are taken`(type: String, members: String) async throws {
        let signed = try notification(members.replacing("SUBJECT", with: Self.subject), type: type)
        let taken = try await authenticator().notification(signed, app: app, for: requester)
        #expect(taken.notificationType == type && taken.transaction == nil && taken.signed == signed)
    }

    @Test func `a request for consumption information has its transaction and its reason`() async throws {
        let transaction = try signer.transaction("7", #","appTransactionId":"70","appAccountToken":"T""#)
        let taken = try await authenticator().notification(
            try notification(
                #""data":{\#(Self.subject),"consumptionRequestReason":"LEGAL","signedTransactionInfo":"\#(transaction)"}"#,
                type: "CONSUMPTION_REQUEST"), app: app, for: requester)
        #expect(taken.transaction?.transactionID == "7" && taken.consumptionRequestReason == "LEGAL")
        #expect(taken.appTransactionID == "70")
    }

    @Test func `a rescinded consent names its Apple Account in the app transaction`() async throws {
        let taken = try await authenticator().notification(
            try notification(
                #""appData":{\#(Self.subject),"signedAppTransactionInfo":"\#(try signer.appTransaction())"}"#,
                type: "RESCIND_CONSENT"), app: app, for: requester)
        #expect(taken.appTransactionID == "70" && taken.appTransaction != nil)
    }

    // MARK: What Apple did not sign

    @Test func `what Apple did not sign is refused as such`() async throws {
        let forged = try notification(#""data":{\#(Self.subject)}"#, by: TestSigner())
        let genuine = try notification(#""data":{\#(Self.subject)}"#)
        let parts = genuine.split(separator: ".")
        let other = Base64URL.encode(
            Array(#"{"notificationType":"TEST","notificationUUID":"v","data":{\#(Self.subject)}}"#.utf8))
        for wrong in ["", "a.b.c", "no JWS at all", forged, "\(parts[0]).\(other).\(parts[2])"] {
            #expect(await refusal(wrong)?.reason == .signatureInvalid, "\(wrong)")
        }
        #expect(await refusal(genuine) == nil)
    }

    @Test func `what Apple signed as something else is refused like what it did not sign`() async throws {
        let transaction = try signer.transaction()
        let nameless = try signer.sign(
            #"{"notificationType":"TEST","notificationUUID":"","data":{\#(Self.subject)}}"#)
        for wrong in [transaction, try signer.renewalInfo(), try signer.appTransaction(), nameless] {
            #expect(await refusal(wrong)?.reason == .signatureInvalid)
        }
    }

    @Test(arguments: ["Xcode", "LocalTesting"])
    func `what Xcode signed is told apart`(environment: String) async throws {
        let signed = try notification(
            #""data":{"bundleId":"com.example.coins","environment":"\#(environment)"}"#, by: TestSigner())
        #expect(await refusal(signed)?.reason == .environmentNotSupported)
    }

    // MARK: What Apple signed, but not for us as we are configured

    @Test(arguments: [
        (#""data":{"bundleId":"x","appAppleId":1,"environment":"Production"}"#, "bundleId is not the app's"),
        (#""data":{"bundleId":"com.example.coins","environment":"Production"}"#, "appAppleId is not the app's"),
        (
            #""data":{"bundleId":"com.example.coins","environment":"Elsewhere"}"#,
            "it names neither of Apple's two environments"
        ), (#""later":{}"#, "it names neither of Apple's two environments"),
    ])
    func `what does not fit the app is told`(members: String, fault: String) async throws {
        let error = await refusal(try notification(members))
        #expect(error?.reason == .notificationMisdirected)
        #expect(error?.cause == fault)
    }

    @Test func `an environment that the app is not configured for is told`() async throws {
        let production = App(slug: "coins", bundleID: "com.example.coins", environments: [.production])
        let error = await refusal(
            try notification(#""data":{"bundleId":"com.example.coins","environment":"Sandbox"}"#), app: production)
        #expect(error?.reason == .notificationMisdirected)
        #expect(error?.cause == "the app is not configured for Sandbox")
    }

    @Test func `a part inside that does not fit is for people to look at`() async throws {
        let foreign = try signer.transaction(bundleID: "com.example.gems")
        let sandboxed = try signer.transaction(environment: "Sandbox")
        let forged = try TestSigner().transaction()
        for part in [foreign, sandboxed, forged] {
            let error = await refusal(
                try notification(#""data":{\#(Self.subject),"signedTransactionInfo":"\#(part)"}"#))
            #expect(error?.reason == .notificationMisdirected)
        }
    }

    // MARK: Load

    @Test func `unknown chains are turned away when there is no room, known ones never`() async throws {
        let full = authenticator(ChainCheckBound(underWay: 0, waiting: 0))
        let signed = try notification(#""data":{\#(Self.subject)}"#)
        await #expect(throws: ServiceError(.verificationBusy, "")) {
            try await full.notification(signed, app: app, for: requester)
        }
        _ = try await authenticator().notification(signed, app: app, for: requester)
        #expect(try await full.notification(signed, app: app, for: requester).notificationUUID == "u")
        let forged = try notification(#""data":{\#(Self.subject)}"#, by: TestSigner())
        #expect(await refusal(forged)?.reason == .signatureInvalid)
        await #expect(throws: ServiceError(.verificationBusy, "")) {
            try await full.notification(forged, app: app, for: requester)
        }
    }

    @Test func `whoever floods with forged chains waits behind his own, and a known chain waits for nobody`()
        async throws
    {
        let bound = ChainCheckBound(underWay: 1, waiting: 10, waitingOfOne: 3)
        let authenticator = authenticator(bound)
        let genuine = try notification(#""data":{\#(Self.subject)}"#)
        let forged = try (0..<4).map { _ in try notification(#""data":{\#(Self.subject)}"#, by: TestSigner()) }
        #expect(await bound.enter(.known(.daemon)))
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            for signed in forged.prefix(3) {
                tasks.addTask {
                    await #expect(throws: ServiceError(.signatureInvalid, "")) {
                        try await authenticator.notification(signed, app: app, for: requester)
                    }
                }
            }
            try await Wait.until("the forged ones to wait") { bound.waitingCount == 3 }
            await #expect(throws: ServiceError(.verificationBusy, "")) {
                try await authenticator.notification(forged[3], app: app, for: requester)
            }
            tasks.addTask {
                let apple = Requester.stranger(from: "17.0.0.1")
                let taken = try await authenticator.notification(genuine, app: app, for: apple)
                #expect(taken.notificationUUID == "u")
            }
            try await Wait.until("the genuine one to wait") { bound.waitingCount == 4 }
            bound.leave()
            try await tasks.waitForAll()
        }
        // The room is taken, and places to wait there are none for whoever floods; a chain that is known needs neither.
        let full = self.authenticator(ChainCheckBound(underWay: 0, waiting: 0))
        #expect(try await full.notification(genuine, app: app, for: requester).notificationUUID == "u")
    }

    @Test func `a known chain does not count for a date at which it was not valid`() async throws {
        let full = authenticator(ChainCheckBound(underWay: 0, waiting: 0))
        _ = try await authenticator().notification(
            try notification(#""data":{\#(Self.subject)}"#), app: app, for: requester)
        let early = try signer.sign(
            #"{"notificationType":"TEST","notificationUUID":"u","signedDate":1500000000000,"data":{\#(Self.subject)}}"#)
        await #expect(throws: ServiceError(.verificationBusy, "")) {
            try await full.notification(early, app: app, for: requester)
        }
        #expect(await refusal(early)?.reason == .signatureInvalid)
    }
}
