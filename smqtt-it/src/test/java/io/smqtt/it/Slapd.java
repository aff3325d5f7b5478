// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/** OpenLDAP's server as a child process, with a directory of its own. */
final class Slapd implements AutoCloseable {

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final Path directory;
    private final List<Integer> ports;
    private final String addresses;
    private CapturedProcess process;

    private Slapd(Path directory, int port, int tlsPort) {
        this.directory = directory;
        this.ports = List.of(port, tlsPort);
        this.addresses = "ldap://127.0.0.1:" + port + " ldaps://127.0.0.1:" + tlsPort;
        load();
        this.process = run();
    }

    /**
     * Starts a server with the files of a page and further entries.
     *
     * @param directory an empty directory
     * @param page has {@code mqtt.schema}, {@code slapd.conf} and the entries
     * @param entries more of them, in LDIF
     * @param certificates the server's certificate
     */
    static Slapd start(
            Path directory, DocumentPage page, String entries, TestCertificates certificates, int port, int tlsPort)
            throws IOException {
        Files.writeString(directory.resolve("mqtt.schema"), page.block("schema", 0));
        Files.writeString(
                directory.resolve("slapd.conf"),
                "TLSCertificateFile %s%nTLSCertificateKeyFile %s%n%s"
                        .formatted(certificates.serverCertificate(), certificates.serverKey(), page.block("conf", 0)));
        Files.writeString(directory.resolve("devices.ldif"), page.block("ldif", 0) + "\n" + entries);
        Files.createDirectory(directory.resolve("data"));
        return new Slapd(directory, port, tlsPort);
    }

    private void load() {
        try (CapturedProcess slapadd = command("slapadd", "-f", "slapd.conf", "-l", "devices.ldif")) {
            assertThat(slapadd.awaitExit(PATIENCE)).as(slapadd.report()).isZero();
        }
    }

    private CapturedProcess run() {
        CapturedProcess started = command("slapd", "-d", "0", "-f", "slapd.conf", "-h", addresses);
        await().atMost(PATIENCE).until(() -> ports.stream().allMatch(Slapd::isListening));
        return started;
    }

    private CapturedProcess command(String name, String... options) {
        ProcessBuilder command = new ProcessBuilder(ForeignProgram.path(name));
        command.command().addAll(List.of(options));
        return CapturedProcess.start(name, command.directory(directory.toFile()));
    }

    private static boolean isListening(int port) {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            return socket.isConnected();
        } catch (IOException e) {
            return false;
        }
    }

    /** Kills the server. */
    void kill() {
        process.close();
    }

    /** Starts it again on the same ports. */
    void startAgain() {
        process = run();
    }

    @Override
    public void close() {
        process.close();
    }
}
