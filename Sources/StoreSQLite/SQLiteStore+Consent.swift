package import Domain
import GRDB

extension SQLiteStore: ConsentStore {
    package func recordConsent(_ record: ConsentRecord) async throws(ServiceError) -> ConsentEffect {
        try await write("record consent") { [tombstones] database in
            try ConsentRow.insert(record, into: database)
            // Whoever is known by a record alone may own what was signed with its id as token.
            try CaseRow.refreshOwners(
                app: record.app, targets: [LinkTarget(.appAccountToken, record.user.value)], in: database)
            guard !record.isConsented else {
                try tombstones.remove(record.user, app: record.app, in: database)
                return ConsentEffect(cancelled: [], sending: [])
            }
            let rows = try UserDeliveries.list(of: record.user, app: record.app, .underWay, in: database)
            let (cancelled, sending) = try DeliveryRow.cancel(
                rows, because: DeliveryFailure(ConsentObjection.withdrawn(record.user).error), at: record.recordedAt,
                in: database)
            return ConsentEffect(cancelled: cancelled, sending: sending)
        }
    }

    package func consentHistory(app: String, user: UserID) async throws(ServiceError) -> [ConsentRecord] {
        try await read("read a user's consent") { try ConsentRow.history(app: app, user: user, from: $0) }
    }

    package func consentObjection(to subject: ConsentSubject) async throws(ServiceError) -> ConsentObjection? {
        try await read("ask for consent") { [tombstones] database in
            try ConsentQuery.objection(to: subject, tombstones, in: database)
        }
    }
}
