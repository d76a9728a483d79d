import Domain
import Foundation
import JOSE
import OpenSSL
import Testing

@testable import AppStoreClient

/// What is checked of each kind of signed data.
struct SignedDataTests {
    private let signer: TestSigner
    private let app = UpstreamFixture.app

    init() throws { signer = try TestSigner() }

    /// Why a payload is refused, or nil when it is taken.
    private func refusal(
        _ payload: String, _ kind: SignedDataKind, in environment: AppStoreEnvironment = .production, app: App? = nil
    ) throws -> ServiceError? {
        let signed = try signer.sign(payload)
        do {
            let verified = try signer.verifier.verify(
                signed, kind, app: app ?? self.app, environment: environment)
            #expect(verified.payload == Array(payload.utf8))
            return nil
        } catch {
            return error
        }
    }

    /// An object of a notification, such as `data`, for this app.
    private func subject(
        _ environment: String? = "Production", bundleID: String = "com.example.coins", appAppleID: Int? = 1
    ) -> String {
        let members = [
            environment.map { #""environment":"\#($0)""# }, #""bundleId":"\#(bundleID)""#,
            appAppleID.map { #""appAppleId":\#($0)"# },
        ]
        return "{" + members.compactMap(\.self).joined(separator: ",") + "}"
    }

    @Test func `a transaction names bundle id and environment`() throws {
        let good = #"{"bundleId":"com.example.coins","environment":"Production"}"#
        #expect(try refusal(good, .transaction) == nil)
        #expect(try refusal(good, .transaction, in: .sandbox)?.cause == "environment is not Sandbox")
        let other = #"{"bundleId":"com.example.gems","environment":"Production"}"#
        #expect(try refusal(other, .transaction)?.cause == "bundleId is not the app's")
        #expect(try refusal(#"{"environment":"Production"}"#, .transaction)?.reason == .appleAnswerInvalid)
    }

    @Test func `renewal information names its environment alone`() throws {
        #expect(try refusal(#"{"environment":"Sandbox"}"#, .renewalInfo, in: .sandbox) == nil)
        #expect(try refusal(#"{"environment":"Sandbox"}"#, .renewalInfo)?.cause == "environment is not Production")
        #expect(try refusal("{}", .renewalInfo)?.reason == .appleAnswerInvalid)
    }

    @Test func `an app transaction names its environment in receiptType, and Apple's id counts in Production`() throws {
        func payload(_ type: String, _ id: Int) -> String {
            #"{"receiptType":"\#(type)","bundleId":"com.example.coins","appAppleId":\#(id)}"#
        }
        #expect(try refusal(payload("Production", 1), .appTransaction) == nil)
        #expect(try refusal(payload("Production", 2), .appTransaction)?.cause == "appAppleId is not the app's")
        #expect(try refusal(payload("Sandbox", 0), .appTransaction, in: .sandbox) == nil)
        #expect(try refusal(payload("Sandbox", 1), .appTransaction)?.cause == "environment is not Production")
        let nameless = App(slug: "coins", bundleID: "com.example.coins")
        #expect(try refusal(payload("Production", 2), .appTransaction, app: nameless) == nil)
    }

    @Test(arguments: ["data", "summary", "appData"])
    func `a notification names its app in what it is about`(name: String) throws {
        #expect(try refusal(#"{"\#(name)":\#(subject())}"#, .notification) == nil)
        #expect(
            try refusal(#"{"\#(name)":\#(subject("Sandbox", appAppleID: nil))}"#, .notification, in: .sandbox) == nil)
        for wrong in [subject("Sandbox"), subject(nil), subject(bundleID: "x"), subject(appAppleID: 2), "{}"] {
            #expect(try refusal(#"{"\#(name)":\#(wrong)}"#, .notification)?.reason == .appleAnswerInvalid, "\(wrong)")
        }
    }

    @Test func `a notification without a subject belongs to nobody`() throws {
        #expect(
            try refusal(#"{"bundleId":"com.example.coins","environment":"Production"}"#, .notification)?.reason
                == .appleAnswerInvalid)
    }

    @Test func `a token for purchases elsewhere tells its environment by its id`() throws {
        func payload(_ id: String) -> String {
            #"{"externalPurchaseToken":{"externalPurchaseId":"\#(id)","bundleId":"com.example.coins","appAppleId":1}}"#
        }
        #expect(try refusal(payload("SANDBOX_1"), .notification, in: .sandbox) == nil)
        #expect(try refusal(payload("SANDBOX_1"), .notification)?.reason == .appleAnswerInvalid)
        #expect(try refusal(payload("1"), .notification) == nil)
        #expect(try refusal(payload("1"), .notification, in: .sandbox)?.reason == .appleAnswerInvalid)
    }

    @Test func `a realtime request names Apple's id in Production, and no bundle id`() throws {
        #expect(try refusal(#"{"environment":"Production","appAppleId":1}"#, .realtimeRequest) == nil)
        #expect(try refusal(#"{"environment":"Production"}"#, .realtimeRequest)?.reason == .appleAnswerInvalid)
        #expect(try refusal(#"{"environment":"Sandbox"}"#, .realtimeRequest, in: .sandbox) == nil)
    }

    @Test(arguments: ["Xcode", "LocalTesting"])
    func `data that is signed locally is told apart, whatever its kind`(name: String) throws {
        let payloads: [(String, SignedDataKind)] = [
            (#"{"environment":"\#(name)"}"#, .transaction), (#"{"environment":"\#(name)"}"#, .renewalInfo),
            (#"{"receiptType":"\#(name)"}"#, .appTransaction), (#"{"data":{"environment":"\#(name)"}}"#, .notification),
        ]
        for (payload, kind) in payloads { #expect(try refusal(payload, kind)?.reason == .environmentNotSupported) }
    }

    @Test(arguments: SignedDataKind.allCases)
    func `certificates must be valid when the data was signed`(kind: SignedDataKind) throws {
        let member = kind == .appTransaction ? "receiptCreationDate" : "signedDate"
        let subject =
            #""bundleId":"com.example.coins","environment":"Production","receiptType":"Production","appAppleId":1"#
        func payload(_ date: Int64) -> String { #"{"\#(member)":\#(date),\#(subject),"data":{\#(subject)}}"# }
        #expect(try refusal(payload(1_700_000_000_000), kind) == nil)
        #expect(try refusal(payload(1_500_000_000_000), kind)?.reason == .appleAnswerInvalid)
    }

    @Test func `data of another signer is refused`() throws {
        let signed = try TestSigner().transaction()
        #expect(throws: ServiceError(.appleAnswerInvalid, "")) {
            try signer.verifier.verify(signed, .transaction, app: app, environment: .production)
        }
    }

    // MARK: Chains

    /// Apple's certificates, which are public, with another member in the header and a signature that is none.
    private func forged(_ number: Int, _ payload: String) throws -> String {
        let genuine = try signer.sign(payload).split(separator: ".")
        let header = String(decoding: try #require(Base64URL.decode(String(genuine[0]))), as: UTF8.self)
        let other = header.replacing("{", with: #"{"zz":"\#(number)","#, maxReplacements: 1)
        return "\(Base64URL.encode(Array(other.utf8))).\(genuine[1]).\(genuine[2])"
    }

    @Test func `forged headers neither enter the cache nor push out what is in it`() throws {
        let payload = #"{"bundleId":"com.example.coins","environment":"Production","signedDate":1700000000000}"#
        let verifier = signer.verifier
        let genuine = try verifier.read(try signer.sign(payload), .transaction)
        func tryForged() throws {
            for number in 0..<100 {
                let data = try verifier.read(try forged(number, payload), .transaction)
                let known = verifier.knownSigner(of: data)
                #expect(throws: SignedDataFault.self) { try verifier.authenticate(data, known: known) }
            }
        }
        try tryForged()
        #expect(verifier.knownSigner(of: genuine) == nil)
        _ = try verifier.authenticate(genuine, known: nil)
        try tryForged()
        #expect(verifier.knownSigner(of: genuine) != nil)
        // A forged one needs no room among the checks of chains that nobody knows.
        #expect(verifier.knownSigner(of: try verifier.read(try forged(1, payload), .transaction)) != nil)
    }
}
