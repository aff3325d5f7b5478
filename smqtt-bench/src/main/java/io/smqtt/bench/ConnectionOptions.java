// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bench;

import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.util.InsecureTrustManagerFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The connection flags of all loads. */
final class ConnectionOptions {

    private static final int PORT = 1883;
    private static final int TLS_PORT = 8883;
    private static final int WEB_SOCKET_PORT = 8083;

    @Option(
            names = {"-h", "--host"},
            split = ",",
            paramLabel = "HOST",
            description = "The brokers' addresses, used in turns. Default: 127.0.0.1.")
    List<String> hosts = List.of("127.0.0.1");

    @Option(
            names = {"-p", "--port"},
            description = "Default: 1883; 8883 with --ssl, 8083 with --ws.")
    @Nullable
    Integer port;

    @Option(
            names = {"-V", "--version"},
            description = "MQTT version: 3 (3.1), 4 (3.1.1) or 5 (5.0). Default: ${DEFAULT-VALUE}.")
    String version = "5";

    @Option(
            names = {"-u", "--username"},
            description = "User name; may have %%c and %%i.")
    @Nullable
    String userName;

    @Option(
            names = {"-P", "--password"},
            description = "Password.")
    @Nullable
    String password;

    @Option(
            names = {"-k", "--keepalive"},
            description = "Keep-alive in seconds, 0 for none. Default: ${DEFAULT-VALUE}.")
    int keepAliveSeconds = 300;

    @Option(
            names = {"-C", "--clean"},
            arity = "1",
            description = "Clean Session or Clean Start. Default: ${DEFAULT-VALUE}.")
    boolean cleanStart = true;

    @Option(
            names = {"-x", "--session-expiry"},
            description = "MQTT 5: Session Expiry Interval in seconds. Default: ${DEFAULT-VALUE}.")
    long sessionExpirySeconds;

    @Option(
            names = "--topic-aliases",
            paramLabel = "COUNT",
            description =
                    "MQTT 5: clients accept so many topic aliases, and publishers use them. Default: ${DEFAULT-VALUE}.")
    int topicAliases;

    @Option(
            names = {"-S", "--ssl"},
            description = "Connects by TLS.")
    boolean tls;

    @Option(names = "--cacertfile", paramLabel = "FILE", description = "Authorities to trust, PEM. Implies --ssl.")
    @Nullable
    Path authorities;

    @Option(names = "--certfile", paramLabel = "FILE", description = "The clients' certificate, PEM.")
    @Nullable
    Path certificate;

    @Option(names = "--keyfile", paramLabel = "FILE", description = "Its key, PEM (PKCS #8).")
    @Nullable
    Path key;

    @Option(names = "--insecure", description = "Accepts any certificate of the broker. Implies --ssl.")
    boolean insecure;

    @Option(names = "--ws", description = "Connects by WebSocket.")
    boolean webSocket;

    @Option(names = "--ws-path", description = "Default: ${DEFAULT-VALUE}.")
    String webSocketPath = "/mqtt";

    @Option(
            names = "--ifaddr",
            split = ",",
            paramLabel = "ADDRESS",
            description = "Local addresses, used in turns; each adds about 28,000 ports.")
    List<String> sourceAddresses = List.of();

    @Option(names = "--prefix", description = "Prefix of client identifiers, and of topics of scenarios.")
    String prefix = "bench-" + ProcessHandle.current().pid();

    @Option(
            names = {"-i", "--interval"},
            description = "Milliseconds between two connections; 0: as fast as possible, 64 at a time."
                    + " Default: ${DEFAULT-VALUE}.")
    double arrivalMillis;

    /** @throws WrongUsage if a flag is invalid */
    Target target() {
        int mqtt = switch (version) {
            case "3", "3.1" -> 3;
            case "4", "3.1.1" -> 4;
            case "5", "5.0" -> 5;
            default -> throw new WrongUsage("-V: MQTT versions are 3, 4 and 5");
        };
        boolean secure = tls || insecure || authorities != null || certificate != null;
        int usual = webSocket ? WEB_SOCKET_PORT : secure ? TLS_PORT : PORT;
        int chosen = port == null ? usual : port;
        check(chosen > 0 && chosen < 65_536, "-p " + chosen + ": ports are 1 to 65535");
        check(keepAliveSeconds >= 0 && keepAliveSeconds < 65_536, "-k " + keepAliveSeconds + ": 0 to 65535 seconds");
        check(arrivalMillis >= 0, "-i " + arrivalMillis + ": cannot be negative");
        check(webSocketPath.startsWith("/"), "--ws-path " + webSocketPath + ": must begin with /");
        check(
                sessionExpirySeconds >= 0 && sessionExpirySeconds <= 0xFFFF_FFFFL,
                "-x " + sessionExpirySeconds + ": 0 to 4294967295 seconds");
        check(topicAliases >= 0 && topicAliases < 65_536, "--topic-aliases " + topicAliases + ": 0 to 65535");
        check(mqtt == 5 || topicAliases == 0, "--topic-aliases needs -V 5");
        check(mqtt == 5 || password == null || userName != null, "-P needs -u before MQTT 5");
        return new Target(
                List.copyOf(hosts),
                chosen,
                mqtt,
                userName,
                password,
                cleanStart,
                sessionExpirySeconds,
                keepAliveSeconds,
                topicAliases,
                secure ? tlsContext() : null,
                webSocket ? webSocketPath : null,
                List.copyOf(sourceAddresses));
    }

    long arrivalNanos() {
        return Math.round(arrivalMillis * 1e6);
    }

    private SslContext tlsContext() {
        check((certificate == null) == (key == null), "--certfile and --keyfile belong together");
        SslContextBuilder builder = SslContextBuilder.forClient();
        try {
            if (insecure) {
                builder.trustManager(InsecureTrustManagerFactory.INSTANCE).endpointIdentificationAlgorithm(null);
            } else if (authorities != null) {
                builder.trustManager(readable(authorities).toFile());
            }
            if (certificate != null && key != null) {
                builder.keyManager(readable(certificate).toFile(), readable(key).toFile());
            }
            return builder.build();
        } catch (SSLException | IllegalArgumentException e) {
            throw new WrongUsage("the certificates cannot be used: " + Failures.text(e));
        }
    }

    private static Path readable(Path file) {
        check(Files.isReadable(file), file + " cannot be read");
        return file;
    }

    static void check(boolean right, String problem) {
        if (!right) {
            throw new WrongUsage(problem);
        }
    }
}
