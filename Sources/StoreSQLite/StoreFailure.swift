import Domain
import GRDB

/// Turns what SQLite says into an error of ours.
///
/// Arguments of statements stay out of it.
enum StoreFailure {
    static func serviceError(_ error: any Error, doing purpose: String) -> ServiceError {
        if let error = error as? ServiceError { return error }
        guard let error = error as? DatabaseError else {
            return ServiceError(
                .storeUnavailable, "The store cannot be used now.", cause: "\(purpose): \(type(of: error))")
        }
        return ServiceError(
            .storeUnavailable, message(for: error.resultCode),
            cause: "\(purpose): \(error.extendedResultCode) \(error.message ?? "")")
    }

    private static func message(for code: ResultCode) -> String {
        switch code {
        case .SQLITE_FULL: "The store's disk is full."
        case .SQLITE_READONLY: "The store is read-only."
        case .SQLITE_CORRUPT, .SQLITE_NOTADB: "The store's file is damaged or not a database."
        case .SQLITE_BUSY, .SQLITE_LOCKED: "The store is busy."
        case .SQLITE_IOERR: "The store's disk fails."
        case .SQLITE_CANTOPEN: "The store's file cannot be opened."
        default: "The store cannot be used now."
        }
    }
}
