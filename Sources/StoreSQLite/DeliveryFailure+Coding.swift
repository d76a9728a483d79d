import Domain
import Foundation
import GRDB

// Failures and lists of texts in rows are JSON: they are read as a whole, and their texts may be any.

extension DeliveryFailure {
    private struct Content: Codable {
        struct Apple: Codable {
            let httpStatus: Int
            let errorCode: Int64?
            let errorName: String?
            let errorMessage: String?
            let environment: String
            let endpoint: String
            let body: Data
        }

        let reason: String
        let message: String
        let apple: Apple?
    }

    /// Reads what `stored` wrote.
    ///
    /// - Throws: `DatabaseError` when this version does not know it.
    init(stored: Data) throws {
        guard let content = try? JSONDecoder().decode(Content.self, from: stored),
            let reason = ServiceError.Reason(rawValue: content.reason)
        else { throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "unknown failure of a delivery") }
        self.init(reason: reason, message: content.message, apple: try content.apple.map(Self.apple))
    }

    /// As the columns `failure` and `cancellation` hold it.
    var stored: Data {
        get throws {
            let apple = apple.map {
                Content.Apple(
                    httpStatus: $0.httpStatus, errorCode: $0.errorCode, errorName: $0.errorName,
                    errorMessage: $0.errorMessage, environment: $0.environment.rawValue, endpoint: $0.endpoint,
                    body: Data($0.body))
            }
            return try JSONEncoder().encode(Content(reason: reason.rawValue, message: message, apple: apple))
        }
    }

    private static func apple(_ content: Content.Apple) throws -> AppleFailure {
        guard let environment = AppStoreEnvironment(rawValue: content.environment) else {
            throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "unknown environment in a delivery's failure")
        }
        return AppleFailure(
            httpStatus: content.httpStatus, errorCode: content.errorCode, errorName: content.errorName,
            errorMessage: content.errorMessage, environment: environment, endpoint: content.endpoint,
            body: Array(content.body))
    }
}
