import Foundation
import NIOSSL

extension LoopbackServer {
    /// A root and a server certificate for one run.
    struct Certificates {
        let authorityFile: String
        let chain: [NIOSSLCertificate]
        let privateKey: NIOSSLPrivateKey
        let dir: URL

        init(hostName: String) throws {
            let dir = FileManager.default.temporaryDirectory.appending(path: "loopback-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: dir, withIntermediateDirectories: true)
            let p = Process()
            p.executableURL = URL(filePath: "/bin/sh")
            p.arguments = [
                "-c",
                """
                cd \(dir.path) && openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout ca.key -out ca.pem -days 2 -subj /CN=root 2>/dev/null && \
                openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout leaf.key -out leaf.csr -subj /CN=leaf -addext subjectAltName=DNS:\(hostName) 2>/dev/null && \
                openssl x509 -req -in leaf.csr -CA ca.pem -CAkey ca.key -days 2 -copy_extensions copy -out leaf.pem 2>/dev/null
                """,
            ]
            try p.run()
            p.waitUntilExit()
            authorityFile = dir.path + "/ca.pem"
            chain = try NIOSSLCertificate.fromPEMFile(dir.path + "/leaf.pem")
            privateKey = try NIOSSLPrivateKey(file: dir.path + "/leaf.key", format: .pem)
            self.dir = dir
        }

        func remove() { try? FileManager.default.removeItem(at: dir) }
    }
}
