import Domain
import GRDB

/// Turns what SQLite says into an error of ours.
///
/// Arguments of statements stay out of it.
enum StoreFailure {
    /// The error for our side.
    ///
    /// - Parameters:
    ///   - error: what was thrown.
    ///   - purpose: what was being done, for the log.
    ///   - store: how to call the store in front of the caller.
    /// - Returns: the error itself if it is ours already.
    static func serviceError(_ error: any Error, doing purpose: String, store: String = "The store") -> ServiceError {
        switch error {
        case let error as ServiceError: error
        case let error as DatabaseError:
            ServiceError(
                .storeUnavailable, "\(store) cannot be used now: \(reason(of: error.resultCode)).",
                cause: "\(purpose): SQLite \(error.extendedResultCode): \(error.message ?? "no message")")
        case is CancellationError:
            ServiceError(.storeUnavailable, "The request was cancelled.", cause: "\(purpose): cancelled")
        default:
            // A description of GRDB's other errors may hold a row's values.
            ServiceError(
                .storeUnavailable, "\(store) cannot be used now: it holds what it should not.",
                cause: "\(purpose): \(type(of: error))")
        }
    }

    private static func reason(of code: ResultCode) -> String {
        switch code {
        case .SQLITE_FULL: "its disk is full"
        case .SQLITE_READONLY: "it is read-only"
        case .SQLITE_CORRUPT, .SQLITE_NOTADB: "its file is damaged or not a database"
        case .SQLITE_BUSY, .SQLITE_LOCKED: "it is busy"
        case .SQLITE_IOERR: "its disk fails"
        case .SQLITE_CANTOPEN: "its file cannot be opened"
        case .SQLITE_MISUSE: "it is closed"
        default: "SQLite refuses"
        }
    }
}
