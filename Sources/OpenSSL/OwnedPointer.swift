import COpenSSL

/// An object of libcrypto that is released when its owner ends.
struct OwnedPointer: ~Copyable {
    let pointer: OpaquePointer
    private let release: (OpaquePointer?) -> Void

    /// Takes over an object.
    ///
    /// - Parameters:
    ///   - pointer: What the allocating function returned.
    ///   - release: The function of libcrypto that gives it back.
    ///   - operation: The allocating function's name.
    /// - Throws: ``OpenSSLError`` if the pointer is nil.
    init(
        _ pointer: OpaquePointer?, release: @escaping (OpaquePointer?) -> Void, operation: StaticString
    ) throws(OpenSSLError) {
        guard let pointer else { throw OpenSSLError(draining: operation) }
        self.pointer = pointer
        self.release = release
    }

    deinit { release(pointer) }
}

/// Throws unless libcrypto answered 1, its sign of success.
func check(_ result: CInt, _ operation: StaticString) throws(OpenSSLError) {
    guard result == 1 else { throw OpenSSLError(draining: operation) }
}
