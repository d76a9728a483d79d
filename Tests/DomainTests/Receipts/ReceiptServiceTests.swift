import Foundation
import TestSupport
import Testing

@testable import Domain

/// What an upload comes to: 200, 206, 402 and 422.
struct ReceiptServiceTests {
    @Test func `a receipt that Apple knows is confirmed at once, with one question`() async throws {
        try await ReceiptFixture.with { fixture in
            let answer = try await fixture.upload(country: "DE", address: "192.0.2.1", metadata: #"{"a":1}"#)
            #expect(answer.isConfirmed)
            let receipt = try await fixture.kept(answer)
            #expect(receipt.state == .confirmed && !receipt.isFraud && receipt.flags.isEmpty)
            #expect(receipt.environment == .production && receipt.appTransactionID == "A")
            #expect(receipt.countryCode == "DE" && receipt.ipAddress == "192.0.2.1")
            #expect(receipt.metadata == Array(#"{"a":1}"#.utf8) && receipt.user?.value == "alice")
            #expect(receipt.checkedAt == fixture.base.now && receipt.nextAttemptAt == nil)
            #expect(receipt.raw == nil)
            #expect(fixture.gateway.questions == [.history("1", revision: nil)])
            #expect(fixture.gateway.calls.map(\.environment) == [.production])
            #expect(fixture.gateway.calls.map(\.caller) == ["shop"])
            #expect(try await fixture.events() == ["receipt.confirmed"])
        }
    }

    @Test func `one question tells of the whole account, however many purchases`() async throws {
        let account = (1...45).map { Transaction.sample(id: "\($0)", account: "A", purchased: TimeInterval($0)) }
        try await ReceiptFixture.with(accounts: [account]) { fixture in
            let content = ReceiptContent.sample((1...45).map { .sample("\($0)", purchased: TimeInterval($0)) })
            let answer = try await fixture.upload(content)
            #expect(answer.isConfirmed)
            #expect(try await fixture.kept(answer).apple.count == 45)
            // Pages of 20.
            #expect(fixture.gateway.questions.count == 3)
            #expect(fixture.gateway.questions.first == .history("45", revision: nil))
        }
    }

    @Test func `a first page confirms, whatever becomes of the next`() async throws {
        let account = (1...45).map { Transaction.sample(id: "\($0)", account: "A", purchased: TimeInterval($0)) }
        try await ReceiptFixture.with(accounts: [account]) { fixture in
            fixture.gateway.gate.close()
            let content = ReceiptContent.sample((1...45).map { .sample("\($0)", purchased: TimeInterval($0)) })
            async let upload = fixture.upload(content)
            await fixture.gateway.gate.hasArrivals(1)
            fixture.gateway.fail("45", with: .outOfReach)
            fixture.gateway.gate.open()
            let answer = try await upload
            #expect(answer.isConfirmed && answer.receipt?.apple.count == 20)
            #expect(fixture.gateway.questions.count == 2)
        }
    }

    @Test func `a receipt without purchases is confirmed without a question`() async throws {
        try await ReceiptFixture.with { fixture in
            let answer = try await fixture.upload(.empty)
            #expect(answer.isConfirmed)
            let receipt = try await fixture.kept(answer)
            #expect(receipt.state == .confirmed && receipt.content.purchases.isEmpty)
            #expect(fixture.service.purchases(of: receipt, app: ReceiptFixture.app).isEmpty)
            #expect(fixture.gateway.questions.isEmpty)
            #expect(try await fixture.events() == ["receipt.confirmed"])
        }
    }

    @Test(arguments: ReceiptSignatureFault.allCases)
    func `a signature that is not Apple's is refused, and nothing is kept`(fault: ReceiptSignatureFault) async throws {
        try await ReceiptFixture.with { fixture in
            let bytes = fixture.reader.know("forged", as: .failure(.signature(fault)))
            let answer = try await fixture.service.upload(
                ReceiptUpload(receipt: bytes), among: [ReceiptFixture.app], caller: "shop")
            guard case .refused(let told) = answer else {
                Issue.record("it was taken")
                return
            }
            #expect(told == fault)
            #expect(try await fixture.service.receipts(app: ReceiptFixture.app, ReceiptQuery()).isEmpty)
            #expect(fixture.gateway.questions.isEmpty)
        }
    }

    /// What stands in the way of taking a receipt: the fault and the rule that is told.
    enum Obstacle: CaseIterable {
        case garbage, xcode, otherApp, environment

        var rule: String {
            switch self {
            case .garbage: "format"
            case .xcode: "XCODE_ENVIRONMENT"
            case .otherApp: "bundleId"
            case .environment: "ENVIRONMENT_NOT_ALLOWED"
            }
        }

        var answer: Result<ReceiptContent, ReceiptFault> {
            switch self {
            case .garbage: .failure(.undecodable("it is no container"))
            case .xcode: .failure(.xcode)
            case .otherApp: .success(.sample(bundleID: "com.example.others"))
            case .environment: .success(.sample(bundleID: "com.example.gems"))
            }
        }
    }

    @Test(arguments: Obstacle.allCases)
    func `what cannot be taken is told by field and rule, and nothing is kept`(obstacle: Obstacle) async throws {
        try await ReceiptFixture.with { fixture in
            let bytes = fixture.reader.know("receipt", as: obstacle.answer)
            let apps = [DeliveryFixture.app, DeliveryFixture.otherApp]
            let error = try #require(
                try await fixture.base.failure {
                    try await fixture.service.upload(ReceiptUpload(receipt: bytes), among: apps, caller: "shop")
                })
            #expect(error.reason == .invalidRequest)
            #expect(error.violations.map(\.field) == ["receipt"] && error.violations.map(\.rule) == [obstacle.rule])
            #expect(fixture.gateway.questions.isEmpty)
            for app in apps { #expect(try await fixture.service.receipts(app: app, ReceiptQuery()).isEmpty) }
        }
    }

    @Test func `a busy reader asks for patience`() async throws {
        try await ReceiptFixture.with { fixture in
            let bytes = fixture.reader.know("receipt", as: .failure(.busy))
            let error = try await fixture.base.failure {
                try await fixture.service.upload(
                    ReceiptUpload(receipt: bytes), among: [ReceiptFixture.app], caller: "shop")
            }
            #expect(error?.reason == .verificationBusy && error?.retryAfter == .seconds(1))
        }
    }

    @Test(arguments: ["ProductionSandbox", "Sandbox"])
    func `the app is found by the receipt, and both sandboxes are one`(environment: String) async throws {
        let account = [Transaction.sample(id: "1", account: "A", environment: .sandbox)]
        try await ReceiptFixture.with(accounts: [account]) { fixture in
            let content = ReceiptContent.sample(bundleID: "com.example.gems", environment: environment)
            let answer = try await fixture.upload(content, among: [DeliveryFixture.app, DeliveryFixture.otherApp])
            #expect(answer.isConfirmed)
            #expect(answer.receipt?.app == "gems" && answer.receipt?.environment == .sandbox)
            #expect(fixture.gateway.calls.map(\.environment) == [.sandbox])
        }
    }

    @Test func `the same bytes are one receipt, which the newest upload brings up to date`() async throws {
        try await ReceiptFixture.with { fixture in
            let first = try await fixture.kept(
                try await fixture.upload(country: "DE", address: "192.0.2.1", metadata: #"{"a":1}"#))
            fixture.base.clock.advance(by: .seconds(10))
            let again = try await fixture.upload(address: "2001:db8::1")
            // What Apple said seconds ago is what it says now.
            #expect(again.isConfirmed && fixture.gateway.questions.count == 1)
            let second = try await fixture.kept(again)
            #expect(second.id == first.id && second.createdAt == first.createdAt)
            #expect(second.updatedAt == fixture.base.now)
            #expect(second.countryCode == "DE" && second.metadata == first.metadata)
            #expect(second.ipAddress == "2001:db8::1")
            fixture.base.clock.advance(by: .seconds(3600))
            let third = try await fixture.kept(try await fixture.upload(metadata: #"{"b":2}"#))
            #expect(fixture.gateway.questions.count == 2)
            #expect(third.ipAddress == nil && third.metadata == Array(#"{"b":2}"#.utf8))
            #expect(third.checkedAt == fixture.base.now)
            #expect(try await fixture.service.receipts(app: ReceiptFixture.app, ReceiptQuery()).count == 1)
            #expect(try await fixture.events() == ["receipt.confirmed"])
        }
    }

    @Test func `raw receipts are kept where that is wanted`() async throws {
        var policy = ReceiptPolicy()
        policy.keepsRawReceipts = true
        try await ReceiptFixture.with(policy: policy) { fixture in
            let answer = try await fixture.upload()
            #expect(try await fixture.kept(answer).raw == Array("receipt".utf8))
        }
    }

    @Test func `a transaction id is taken out of either style without verifying anything`() async throws {
        try await ReceiptFixture.with { fixture in
            let bytes = fixture.reader.know("receipt", as: .success(.sample(.sample("42"))))
            #expect(try await fixture.service.transactionID(in: bytes, for: .known(.caller("shop"))) == "42")
            let error = try await fixture.base.failure {
                try await fixture.service.transactionID(in: [1], for: .known(.caller("shop")))
            }
            #expect(error?.violations.map(\.field) == ["receipt"])
        }
    }

    @Test func `there is no receipt of an unknown id`() async throws {
        try await ReceiptFixture.with { fixture in
            let error = try await fixture.base.failure {
                try await fixture.service.receipt(app: ReceiptFixture.app, id: "nothing")
            }
            #expect(error?.reason == .receiptNotFound)
        }
    }
}
