/// Where a member's name stands in the document, with a digest to compare names by.
struct JSONKey {
    /// The name between its quotes, as written.
    let range: Range<Int>
    /// Position among ``JSONCursor/unescapedKeys``, or nil when the name is written without escapes.
    let unescapedIndex: Int?
    /// Digest of the name with its escapes resolved: equal names have equal digests, not the other way round.
    let digest: UInt64
}

extension JSONCursor {
    /// Up to this many names are compared pair by pair, which needs no sorting and no memory.
    private static let pairwiseLimit = 64

    /// Reads a member's name and moves past its closing quote.
    mutating func readKey() throws(JSONError) -> JSONKey {
        guard index < bytes.count, bytes[index] == ASCII.quote else { throw failure(.unexpectedCharacter) }
        let start = index + 1
        let isEscaped = try skipString()
        let range = start..<(index - 1)
        let written = UnsafeBufferPointer(rebasing: bytes[range])
        guard isEscaped else {
            return JSONKey(range: range, unescapedIndex: nil, digest: Self.digest(written))
        }
        let unescaped = JSONText.unescape(written)
        unescapedKeys.append(unescaped)
        return JSONKey(
            range: range, unescapedIndex: unescapedKeys.count - 1,
            digest: unescaped.withUnsafeBufferPointer(Self.digest))
    }

    /// Throws if two of the object's names are the same, at the first name that repeats an earlier one.
    ///
    /// Names are the same when their bytes are, after resolving escapes; Unicode normalisation plays no part. Many
    /// names are sorted first, so that a hostile object costs n log n comparisons: nothing here can be degraded by
    /// choosing names with equal digests.
    func rejectDuplicates(among range: Range<Int>) throws(JSONError) {
        guard range.count <= Self.pairwiseLimit else { return try rejectDuplicatesBySorting(range) }
        if let repeated = repeatedName(among: range) { throw duplicate(repeated) }
    }

    /// The first name that repeats an earlier one, found by comparing each with all before it.
    private func repeatedName(among range: Range<Int>) -> JSONKey? {
        // Hundreds of pairs for an object of twenty members, so that the array is opened once.
        keys.withUnsafeBufferPointer { keys in
            for later in range.dropFirst() {
                for earlier in range.lowerBound..<later
                where keys[earlier].digest == keys[later].digest && order(keys[earlier], keys[later]) == 0 {
                    return keys[later]
                }
            }
            return nil
        }
    }

    private func rejectDuplicatesBySorting(_ range: Range<Int>) throws(JSONError) {
        let sorted = keys[range].sorted { left, right in
            let byName = left.digest == right.digest ? order(left, right) : left.digest < right.digest ? -1 : 1
            return byName == 0 ? left.range.lowerBound < right.range.lowerBound : byName < 0
        }
        var firstRepeated: JSONKey?
        for (left, right) in zip(sorted, sorted.dropFirst())
        where left.digest == right.digest && order(left, right) == 0 {
            if let found = firstRepeated, found.range.lowerBound < right.range.lowerBound { continue }
            firstRepeated = right
        }
        if let firstRepeated { throw duplicate(firstRepeated) }
    }

    private func duplicate(_ key: JSONKey) -> JSONError {
        let name = withName(key) { UntrustedText(decoding: $0) }
        return JSONError(.duplicateKey(name), offset: key.range.lowerBound - 1)
    }

    /// Negative, zero or positive as the first name sorts before, equals or sorts after the second: by length, then by
    /// bytes.
    private func order(_ left: JSONKey, _ right: JSONKey) -> Int {
        withName(left) { left in
            withName(right) { right in
                guard left.count == right.count else { return left.count - right.count }
                for position in left.indices where left[position] != right[position] {
                    return Int(left[position]) - Int(right[position])
                }
                return 0
            }
        }
    }

    private func withName<Result>(_ key: JSONKey, _ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        guard let unescapedIndex = key.unescapedIndex else {
            return body(UnsafeBufferPointer(rebasing: bytes[key.range]))
        }
        return unescapedKeys[unescapedIndex].withUnsafeBufferPointer(body)
    }

    /// A cheap digest, eight bytes at a time.
    private static func digest(_ name: UnsafeBufferPointer<UInt8>) -> UInt64 {
        var digest = UInt64(truncatingIfNeeded: name.count)
        let raw = UnsafeRawBufferPointer(name)
        var position = 0
        while position + 8 <= raw.count {
            digest = mix(digest, raw.loadUnaligned(fromByteOffset: position, as: UInt64.self))
            position += 8
        }
        var rest: UInt64 = 0
        while position < raw.count {
            rest = rest << 8 | UInt64(raw[position])
            position += 1
        }
        return mix(digest, rest)
    }

    /// One step of the digest: multiplication by an odd constant, high half folded onto the low.
    private static func mix(_ digest: UInt64, _ word: UInt64) -> UInt64 {
        let product = (digest ^ word) &* 0x9E37_79B9_7F4A_7C15
        return product ^ product >> 32
    }
}
