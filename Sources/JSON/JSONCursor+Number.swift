extension JSONCursor {
    /// Moves past the number under the cursor.
    ///
    /// Source: RFC 8259, section 6.
    mutating func skipNumber() throws(JSONError) {
        _ = take(ASCII.minus)
        if !take(ASCII.zero) { try skipDigits() }
        if take(ASCII.point) { try skipDigits() }
        if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
            if !take(ASCII.plus) { _ = take(ASCII.minus) }
            try skipDigits()
        }
        // What follows a whole number is the caller's concern, except a digit after a leading zero: say what is really
        // wrong.
        if index < bytes.count, ASCII.zero...ASCII.nine ~= bytes[index] { throw failure(.invalidNumber) }
    }

    private mutating func skipDigits() throws(JSONError) {
        let start = index
        while index < bytes.count, ASCII.zero...ASCII.nine ~= bytes[index] { index += 1 }
        guard index > start else { throw failure(.invalidNumber) }
    }
}
