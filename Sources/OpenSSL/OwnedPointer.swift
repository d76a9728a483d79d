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

/// libcrypto's stream over memory, through which it reads and writes PEM.
struct MemoryBIO: ~Copyable {
    /// Answers that there is no passphrase; without it libcrypto would ask for one on the terminal.
    static let noPassphrase:
        @convention(c) (UnsafeMutablePointer<CChar>?, CInt, CInt, UnsafeMutableRawPointer?) -> CInt =
            { _, _, _, _ in -1 }

    private let bio: OwnedPointer
    var pointer: OpaquePointer { bio.pointer }

    /// An empty stream to write to; its memory is wiped when it is released.
    init() throws(OpenSSLError) {
        bio = try OwnedPointer(BIO_new(BIO_s_secmem()), release: { BIO_free_all($0) }, operation: "BIO_new")
    }

    /// A stream that reads from memory of the caller's, which must outlive it.
    init(reading bytes: UnsafeBufferPointer<UInt8>) throws(OpenSSLError) {
        guard let count = CInt(exactly: bytes.count) else { throw OpenSSLError(draining: "BIO_new_mem_buf") }
        bio = try OwnedPointer(
            BIO_new_mem_buf(bytes.baseAddress, count), release: { BIO_free_all($0) }, operation: "BIO_new_mem_buf")
    }

    /// Lends what has been written.
    func withContents<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        var contents: UnsafePointer<CChar>?
        let count = copenssl_bio_contents(pointer, &contents)
        return try body(UnsafeRawBufferPointer(start: contents, count: max(count, 0)))
    }

    /// What has been written, as text.
    var text: String { withContents { String(decoding: $0, as: UTF8.self) } }
}
