import Domain
import Foundation

/// Makes sure that the store's file is ours alone before SQLite opens it.
enum FilePreparation {
    /// Creates the file with mode 0600 when it is not there; SQLite gives its companions the same mode.
    ///
    /// - Throws: `storeUnavailable`.
    static func prepare(_ path: String) throws(ServiceError) {
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            let reason = String(cString: strerror(errno))
            throw ServiceError(.storeUnavailable, "The store \(path) cannot be opened: \(reason).", cause: reason)
        }
        close(descriptor)
    }
}
