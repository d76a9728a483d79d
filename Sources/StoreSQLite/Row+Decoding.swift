import Domain
import Foundation
import GRDB

// Columns as rows of several tables have them.

extension Row {
    /// The value that a text stands for.
    ///
    /// - Throws: `DatabaseError` when this version does not know it, `RowDecodingError`.
    func known<Value: RawRepresentable>(_ column: String) throws -> Value where Value.RawValue == String {
        guard let value = try Value(rawValue: decode(forColumn: column)) else { throw Self.unknown(column) }
        return value
    }

    /// The value that a text stands for, nil for NULL.
    func knownIfPresent<Value: RawRepresentable>(_ column: String) throws -> Value? where Value.RawValue == String {
        try decode(String?.self, forColumn: column) == nil ? nil : known(column)
    }

    /// A time.
    func date(_ column: String) throws -> Date { Date(milliseconds: try decode(forColumn: column)) }

    /// A time, nil for NULL.
    func dateIfPresent(_ column: String) throws -> Date? {
        try decode(Int64?.self, forColumn: column).map(Date.init(milliseconds:))
    }

    /// A user's id, nil for NULL.
    func userIfPresent(_ column: String) throws -> UserID? {
        try decode(Data?.self, forColumn: column).map(LinkRow.user)
    }

    /// Bytes.
    func bytes(_ column: String) throws -> [UInt8] { Array(try decode(Data.self, forColumn: column)) }

    /// What the columns of a purchase say.
    ///
    /// - Throws: `DatabaseError`, `RowDecodingError` when the row holds what this version does not know.
    func purchase() throws -> PurchaseFacts {
        PurchaseFacts(
            environment: try known("environment"), transactionID: try decode(forColumn: "transactionId"),
            originalTransactionID: try decode(forColumn: "originalTransactionId"),
            appTransactionID: try decode(forColumn: "appTransactionId"),
            appAccountToken: try decode(forColumn: "appAccountToken"), productID: try decode(forColumn: "productId"),
            productType: try decode(String?.self, forColumn: "productType").map(ProductType.init(rawValue:)),
            purchaseDate: try date("purchaseDate"), isFamilyShared: try decode(forColumn: "isFamilyShared"),
            isAdvancedCommerce: try decode(forColumn: "isAdvancedCommerce"))
    }

    private static func unknown(_ column: String) -> DatabaseError {
        DatabaseError(resultCode: .SQLITE_CORRUPT, message: "unknown value in column \(column)")
    }
}
