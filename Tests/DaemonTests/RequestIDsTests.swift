import Foundation
import Testing

@testable import Daemon

struct RequestIDsTests {
    @Test func `an id is a UUID of version 8, in small letters`() throws {
        #expect(RequestIDs.text(0, 0) == "00000000-0000-8000-8000-000000000000")
        #expect(RequestIDs.text(.max, .max) == "ffffffff-ffff-8fff-bfff-ffffffffffff")
        #expect(RequestIDs.text(0x0123_4567_89AB_CDEF, 0x0123_4567_89AB_CDEF) == "01234567-89ab-8def-8123-456789abcdef")
        let id = RequestIDs().make()
        #expect(UUID(uuidString: id)?.uuidString.lowercased() == id)
    }

    @Test func `no two are alike, within a process or between two`() {
        let sources = [RequestIDs(), RequestIDs()]
        let ids = sources.flatMap { source in (0..<1000).map { _ in source.make() } }
        #expect(Set(ids).count == 2000)
    }
}
