import Domain
import TestSupport
import Testing

@testable import AppStoreClient

struct SubscriptionGatewayTests {
    private let signer: TestSigner
    private let parts: UpstreamFixture.Dependencies

    init() throws {
        signer = try TestSigner()
        var parts = UpstreamFixture.Dependencies()
        parts.signer = signer
        self.parts = parts
    }

    @Test func `statuses come by group, verified, and unknown ones keep their number`() async throws {
        let transaction = try signer.transaction("7")
        let renewal = try signer.renewalInfo()
        let answer = """
            {"data":[{"subscriptionGroupIdentifier":"g","lastTransactions":[{"status":77,"originalTransactionId":"7",\
            "signedTransactionInfo":"\(transaction)","signedRenewalInfo":"\(renewal)"}]}]}
            """
        try await UpstreamFixture.run(
            parts, handler: { _ in .init(answer) },
            during: { fixture in
                let found = try await fixture.client.subscriptionStatuses(
                    "7", statuses: [.active, .billingRetry], fixture.call(nil))
                #expect(found.groups.map(\.subscriptionGroupIdentifier) == ["g"])
                let subscription = try #require(found.groups.first?.subscriptions.first)
                #expect(subscription.status.rawValue == 77)
                #expect(subscription.transaction.transactionID == "7")
                #expect(subscription.renewalInfo.signed == renewal)
                #expect(
                    fixture.server.requests.map(\.path) == ["/production/inApps/v1/subscriptions/7?status=1&status=3"])
            })
    }

    @Test func `renewal information of the other environment fails the answer`() async throws {
        let transaction = try signer.transaction("7")
        let renewal = try signer.renewalInfo(environment: "Sandbox")
        let answer = """
            {"data":[{"subscriptionGroupIdentifier":"g","lastTransactions":[{"status":1,\
            "signedTransactionInfo":"\(transaction)","signedRenewalInfo":"\(renewal)"}]}]}
            """
        try await UpstreamFixture.run(
            parts, handler: { _ in .init(answer) },
            during: { fixture in
                await #expect(throws: ServiceError(.appleAnswerInvalid, "")) {
                    try await fixture.client.subscriptionStatuses("7", statuses: [], fixture.call(nil))
                }
            })
    }

    @Test func `an extension falls back to the sandbox on 4040005, and repeats itself byte for byte`() async throws {
        let answers = Script([
            .apple(4_040_005), .init(status: 503),
            .init(#"{"originalTransactionId":"7","webOrderLineItemId":"8","success":true,"effectiveDate":9}"#),
        ])
        try await UpstreamFixture.run(
            parts, handler: { _ in answers.next() },
            during: { fixture in
                let outcome = try await fixture.client.extendRenewalDate(
                    RenewalExtension(days: 30, reasonCode: 1, requestIdentifier: "r"), originalTransactionID: "7",
                    fixture.call(nil))
                #expect(
                    outcome
                        == RenewalExtensionOutcome(
                            originalTransactionID: "7", webOrderLineItemID: "8", success: true, effectiveDate: 9,
                            environment: .sandbox))
                let body = #"{"extendByDays":30,"extendReasonCode":1,"requestIdentifier":"r"}"#
                #expect(fixture.server.requests.map(\.body) == Array(repeating: Array(body.utf8), count: 3))
            })
    }

    @Test func `a mass extension is asked for, and its progress followed, in the environment given`() async throws {
        let answers = Script([
            .init(#"{"requestIdentifier":"R"}"#), .init(#"{"requestIdentifier":"R","complete":false}"#),
            .init(#"{"complete":true,"completeDate":1,"succeededCount":2,"failedCount":3}"#),
        ])
        try await UpstreamFixture.run(
            parts, handler: { _ in answers.next() },
            during: { fixture in
                let mass = MassRenewalExtension(
                    extension: RenewalExtension(days: 1, reasonCode: 0, requestIdentifier: "R"), productID: "gold",
                    storefrontCountryCodes: ["USA"])
                #expect(try await fixture.client.extendRenewalDates(mass, fixture.call(.sandbox)) == "R")
                for isComplete in [false, true] {
                    let status = try await fixture.client.massExtensionStatus(
                        productID: "gold", requestIdentifier: "R", fixture.call(.sandbox))
                    #expect(status.isComplete == isComplete)
                    #expect(status.failedCount == (isComplete ? 3 : nil))
                }
                #expect(
                    fixture.server.requests.map(\.path) == [
                        "/sandbox/inApps/v1/subscriptions/extend/mass",
                        "/sandbox/inApps/v1/subscriptions/extend/mass/gold/R",
                        "/sandbox/inApps/v1/subscriptions/extend/mass/gold/R",
                    ])
                await #expect(throws: ServiceError(.internalError, "")) {
                    try await fixture.client.extendRenewalDates(mass, fixture.call(nil))
                }
            })
    }
}
