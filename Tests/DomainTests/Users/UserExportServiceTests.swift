import Domain
import Foundation
import Synchronization
import TestSupport
import Testing

/// What is kept of a user is given out in pages, and not before it is on record.
struct UserExportServiceTests {
    /// Has so many links of a user, and remembers what was asked.
    private final class CountedLinks: UserExportStore {
        let count: Int
        private let state = Mutex<[Int]>([])

        init(_ count: Int) { self.count = count }

        /// How many records were asked for, each time.
        var asked: [Int] { state.withLock(\.self) }

        func inventory(app: String, user: UserID) async throws(ServiceError) -> UserInventory {
            var inventory = UserInventory()
            inventory.keys[.links] = (0..<count).map { .position(Int64($0)) }
            inventory.auditPseudonyms = ["pseudonym"]
            return inventory
        }

        func records(
            app: String, user: UserID, _ part: UserInventory.Part, _ keys: ArraySlice<UserInventory.Key>
        ) async throws(ServiceError) -> UserExport.Page {
            state.withLock { $0.append(keys.count) }
            var page = UserExport.Page()
            page.withheld = keys.count
            return page
        }
    }

    private let app = App(slug: "coins", bundleID: "com.example.coins")

    private func service(_ store: CountedLinks, _ audit: RememberedAudit) -> UserExportService {
        UserExportService(store: store, audit: audit, now: { Date(timeIntervalSince1970: 7) })
    }

    @Test func `it is on record before anything is read, and says how much there is and of whom`() async throws {
        let (store, audit) = (CountedLinks(3), RememberedAudit())
        let export = try await service(store, audit).export(
            app: app, user: try UserID("alice"), by: .caller("support"))
        #expect(
            audit.acts == [
                AuditAct(
                    .userExported, by: .caller("support"), app: "coins", pseudonym: "pseudonym",
                    details: ["records": "3"])
            ])
        #expect(store.asked.isEmpty && export.takenAt == Date(timeIntervalSince1970: 7))
    }

    @Test func `what cannot be recorded is not given out`() async throws {
        let (store, audit) = (CountedLinks(3), RememberedAudit())
        audit.fail()
        await #expect(throws: ServiceError(.auditUnavailable, "")) {
            _ = try await service(store, audit).export(app: app, user: try UserID("alice"), by: .caller("support"))
        }
        #expect(store.asked.isEmpty)
    }

    @Test(arguments: [0, 1, 499, 500, 501, 1250])
    func `a part is read in pages, to its end`(count: Int) async throws {
        let store = CountedLinks(count)
        let export = try await service(store, RememberedAudit()).export(
            app: app, user: try UserID("alice"), by: .caller("support"))
        let size = UserInventory.Part.links.pageSize
        var (read, withheld) = (0, 0)
        while let page = try await export.page(of: .links, behind: read) {
            read += size
            withheld += page.withheld
        }
        #expect(withheld == count && store.asked.allSatisfy { $0 <= size })
        #expect(store.asked.count == (count + size - 1) / size)
        let none = try await export.page(of: .events, behind: 0)
        #expect(none?.withheld == nil)
    }
}
