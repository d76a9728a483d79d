import Domain
import Foundation
import GRDB

extension DeliveryRow {
    /// Ends the deliveries of a case that are queued, and asks for the end of those that are being sent.
    ///
    /// - Returns: both, as they now are.
    @discardableResult
    static func cancel(
        caseID: String, app: String, because failure: DeliveryFailure, at now: Date, in database: Database
    ) throws -> (cancelled: [Delivery], sending: [Delivery]) {
        try cancel(rows(ofCase: caseID, app: app, from: database), because: failure, at: now, in: database)
    }

    /// Ends those that are queued, and asks for the end of those that are being sent; leaves those that have ended.
    static func cancel(
        _ rows: [DeliveryRow], because failure: DeliveryFailure, at now: Date, in database: Database
    ) throws -> (cancelled: [Delivery], sending: [Delivery]) {
        var cancelled: [Delivery] = []
        var sending: [Delivery] = []
        for row in rows {
            switch row.delivery.state {
            case .queued:
                cancelled.append(try row.end(as: .cancelled, because: failure, at: now, in: database))
            case .sending:
                try row.askForEnd(because: failure, in: database)
                sending.append(row.delivery)
            case .accepted, .refused, .expired, .cancelled: break
            }
        }
        return (cancelled, sending)
    }

    /// Asks for the end of a delivery that is being sent; the first reason stays.
    ///
    /// - Returns: whether nobody had asked before.
    @discardableResult
    func askForEnd(because failure: DeliveryFailure, in database: Database) throws -> Bool {
        guard cancellation == nil else { return false }
        try database.cachedStatement(sql: "UPDATE delivery SET cancellation = ? WHERE id = ?")
            .execute(arguments: [try failure.stored, delivery.id])
        return true
    }
}
