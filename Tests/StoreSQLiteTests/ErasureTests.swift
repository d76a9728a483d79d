import Domain
import Foundation
import StoreSQL
import StoreSQLite
import TestSupport
import Testing

/// An erasure leaves nothing of a user in any byte of the store's files.
struct ErasureTests {
    /// In every text that may name the user.
    private static let marker = "erased-marker-0815"
    private static let token = "deadbeef-0815-4000-8000-00000000c0de"

    /// Which of some texts occur in a file of the store.
    private func found(_ texts: [String], in folder: StoreFolder) throws -> [String] {
        try FileManager.default.contentsOfDirectory(at: folder.url, includingPropertiesForKeys: nil).flatMap { file in
            let bytes = try Data(contentsOf: file)
            return texts.filter { bytes.range(of: Data($0.utf8)) != nil }.map { "\($0) in \(file.lastPathComponent)" }
        }
    }

    /// Apple's notification about a purchase with the user's token, in its signed and decoded forms.
    private func notification(_ uuid: String, _ type: String, at hour: Double) -> StoredNotification {
        let decoded = #"{"transactionId":"1000","appAccountToken":"\#(Self.token)","price":9990000000000001}"#
        let transaction = Transaction(
            transactionID: "1000", originalTransactionID: "1000", appTransactionID: "704", appAccountToken: Self.token,
            productID: "gems", productType: .consumable, purchaseDate: CaseModel.time(-1),
            signedDate: CaseModel.time(hour),
            environment: .production, payload: Array(decoded.utf8), signed: "t.\(Self.token).t")
        let payload =
            #"{"notificationUUID":"\#(uuid)","data":{"signedTransactionInfo":"t.\#(Self.token).t","bundleId":"b"}}"#
        return StoredNotification(
            app: "coins",
            notification: AppleNotification(
                notificationUUID: uuid, notificationType: type, subtype: nil,
                signedDate: CaseModel.time(hour).milliseconds,
                environment: .production, payload: Array(payload.utf8), signed: "n.\(Self.token).n",
                transaction: transaction,
                renewalInfo: VerifiedData(payload: Array(decoded.utf8), signed: "r.\(Self.token).r"),
                appTransaction: nil),
            source: .webhook, receivedAt: CaseModel.time(hour))
    }

    /// Everything in which a user can be named.
    private func fill(_ store: SQLiteStore, _ user: UserID) async throws {
        _ = try await store.declare(
            .sample(.appAccountToken, Self.token, user: user.value), transfer: false)
        _ = try await store.recordConsent(.sample(user.value, true))
        _ = try await store.recordUsage([
            .sample(product: "gems", of: user.value, 10, at: 1), .sample("77", 10, at: 1, user: user.value),
            .sample("1000", 10, at: 1),
        ])
        try await store.take(notification("n1", "CONSUMPTION_REQUEST", at: 0))
        let opened = try #require(try await store.refundCases(app: "coins", CaseQuery()).first)
        #expect(opened.owner == user)
        let key = IdempotencyKey(caller: "shop", app: "coins", route: "/users/\(user)/consumption", key: "k")
        try await store.queue(
            .sample("d1", caseID: opened.id, user: user.value, body: #"{"of":"\#(Self.marker)"}"#, key: key))
        try await store.claim(at: 0)
        _ = try await store.cancelDelivery(
            app: "coins", id: "d1",
            because: DeliveryFailure(reason: .consentWithdrawn, message: "User `\(user)` has withdrawn."),
            at: CaseModel.time(0))
        _ = try await store.decline(
            app: "coins", id: opened.id,
            RefundCase.Decline(caller: "shop", note: "\(user) said no", at: CaseModel.time(1)))
        try await store.recordToken(
            Self.token, of: "1000", app: "coins", environment: .production, at: CaseModel.time(1))
        try await store.take(notification("n2", "REFUND_DECLINED", at: 2))
        _ = try await store.recordConsent(.sample(user.value, false))
    }

    @Test(arguments: [marker, token.uppercased()])
    func `no byte of any file tells of a user who was erased`(id: String) async throws {
        let folder = try StoreFolder()
        let store = try await folder.open()
        let user = try UserID(id)
        let texts = [Self.marker, Self.token, Self.token.uppercased()]
        for round in 0..<3 {
            if round == 0 { try await fill(store, user) }
            #expect(try !found(texts, in: folder).isEmpty || round > 0)
            let report = try await store.eraseUser(app: "coins", user: user, at: CaseModel.time(3))
            if round == 0 {
                #expect(report.notifications == 2 && report.cases == 1 && report.deliveries == 1)
                #expect(report.usage == 3)
                #expect(report.isWithdrawalKept)
            }
            #expect(try found(texts, in: folder) == [])
        }
        // What stays is still there to read, and numbers are what they were.
        let kept = try #require(try await store.notification(app: "coins", uuid: "n1"))
        let payload = String(decoding: try #require(kept.notification.transaction).payload, as: UTF8.self)
        #expect(payload == #"{"transactionId":"1000","price":9990000000000001}"#)
        #expect(kept.notification.signed.isEmpty && kept.user == nil)
        await store.close()
        #expect(try found(texts, in: folder) == [])
    }

    @Test func `an erasure between an acceptance and the link that it teaches leaves no link`() async throws {
        let folder = try StoreFolder()
        let store = try await folder.open()
        for number in 0..<200 {
            let (user, id) = (try UserID("user-\(number)"), "d\(number)")
            try await store.queue(.sample(id, transaction: "t\(number)", user: user.value))
            try await store.claim(at: 0)
            async let concluded = store.conclude(id, .accepted, at: 1)
            async let erased = store.eraseUser(app: "coins", user: user, at: CaseModel.time(1))
            _ = try await (concluded, erased)
            #expect(try await store.links(app: "coins", user: user).isEmpty)
        }
        await store.close()
    }
}
