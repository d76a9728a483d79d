import Glibc

extension UntrustedText {
    /// The names in an open directory, without `.` and `..`, in the order of the file system.
    ///
    /// It blocks. A name that is not UTF-8 has U+FFFD in it.
    ///
    /// - Parameter descriptor: a directory that is open for reading; it stays open.
    /// - Returns: the names; nil, with `errno` set, if they cannot be read.
    package static func names(inDirectory descriptor: CInt) -> [UntrustedText]? {
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0 else { return nil }
        guard let stream = fdopendir(copy) else {
            let code = errno
            close(copy)
            errno = code
            return nil
        }
        // It closes the copy.
        defer { closedir(stream) }
        guard let offset = MemoryLayout<dirent>.offset(of: \dirent.d_name) else { return nil }
        var names: [UntrustedText] = []
        while true {
            errno = 0
            guard let entry = readdir(stream) else { return errno == 0 ? names : nil }
            // The system has written only as much of the field as the name takes.
            let name = UnsafeRawPointer(entry).advanced(by: offset).assumingMemoryBound(to: CChar.self)
            let text = UntrustedText(decoding: UnsafeRawBufferPointer(start: name, count: strlen(name)))
            if text != ".", text != ".." { names.append(text) }
        }
    }
}
