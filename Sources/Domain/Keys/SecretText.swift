import Foundation

/// A secret on its way through the service, in memory of its own that is wiped when the last holder lets go of it.
///
/// It has no description, and no comparison.
///
/// `@unchecked Sendable`: it is written before `init` returns and again in `deinit`, when nobody else can look.
package final class SecretText: @unchecked Sendable {
    private let memory: UnsafeMutableRawBufferPointer
    /// How many bytes it has.
    package let count: Int

    /// Takes bytes in pieces.
    ///
    /// - Parameters:
    ///   - maximumCount: the most that are taken.
    ///   - fill: is given the memory, and returns how many bytes it wrote.
    package init(maximumCount: Int, fill: (UnsafeMutableRawBufferPointer) -> Int) {
        memory = UnsafeMutableRawBufferPointer.allocate(byteCount: max(maximumCount, 1), alignment: 16)
        memory.initializeMemory(as: UInt8.self, repeating: 0)
        // Refused under tight limits; what counts is that it is wiped.
        if let start = memory.baseAddress { _ = mlock(start, memory.count) }
        count = min(max(fill(memory), 0), maximumCount)
    }

    /// Takes bytes from an ordinary array, which is the caller's to forget: for tests and commands that end soon.
    package convenience init(_ bytes: [UInt8]) {
        self.init(maximumCount: bytes.count) { memory in
            memory.copyBytes(from: bytes)
            return bytes.count
        }
    }

    deinit {
        if let start = memory.baseAddress {
            explicit_bzero(start, memory.count)
            munlock(start, memory.count)
        }
        memory.deallocate()
    }

    /// Lends the bytes; the pointer must not leave the closure.
    package func withUnsafeBytes<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeRawBufferPointer(rebasing: memory[..<count]))
    }
}

extension SecretText: CustomStringConvertible, CustomReflectable {
    /// The length, never the content.
    package var description: String { "\(count) secret bytes" }

    /// Nothing, so that `dump` and test reports show nothing.
    package var customMirror: Mirror { Mirror(self, children: []) }
}
