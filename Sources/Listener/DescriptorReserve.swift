import Glibc
import Synchronization

/// Descriptors of this process that are kept in use, so that some can be set free when all others are used up.
///
/// They are not for connections: libdispatch counts its running threads in `/proc/self/task` every second, and ends the process
/// when it cannot open what it reads there.
final class DescriptorReserve: Sendable {
    static let shared = DescriptorReserve()

    private static let count = 16
    /// How many must be free before connections are accepted again; more than were set free.
    private static let enough = 2 * count

    private let held: Mutex<[CInt]>

    private init() {
        held = Mutex([])
        take()
    }

    /// Sets them free.
    func release() {
        held.withLock { held in
            for descriptor in held { close(descriptor) }
            held = []
        }
    }

    /// Takes them again, if enough are free.
    ///
    /// - Returns: whether that is so.
    func restock() -> Bool {
        guard let free = Self.freeCount, free >= Self.enough else { return false }
        take()
        return true
    }

    private func take() {
        held.withLock { held in
            while held.count < Self.count {
                let descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
                // Fewer do as well.
                guard descriptor >= 0 else { return }
                held.append(descriptor)
            }
        }
    }

    /// How many descriptors are free below the limit, counted without taking any but one; nil when that cannot be told.
    private static var freeCount: Int? {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0, let folder = opendir("/proc/self/fd")
        else { return nil }
        defer { closedir(folder) }
        let bound = Int(clamping: limit.rlim_cur)
        var used = 0
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if let number = Int(name), number < bound { used += 1 }
        }
        return bound - used
    }
}
