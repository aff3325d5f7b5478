// SPDX-License-Identifier: Apache-2.0
package io.smqtt.sink.kafka;

import io.smqtt.config.ConfigurationException;
import io.smqtt.rules.sink.SinkSetting;
import io.smqtt.rules.sink.SinkSettings;
import io.smqtt.thread.AnyThread;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import org.apache.kafka.clients.CommonClientConfigs;
import org.apache.kafka.common.config.SaslConfigs;
import org.apache.kafka.common.config.SslConfigs;
import org.jspecify.annotations.Nullable;

/** How a cluster is reached: its brokers, TLS and SASL. Files are read for each client anew, so that renewed ones are used. Immutable. */
@AnyThread
final class KafkaConnection {

    static final String SERVERS = "bootstrap-servers";
    static final String TLS = "tls";
    static final String CA = "ca";
    static final String CERTIFICATE = "certificate";
    static final String PRIVATE_KEY = "private-key";
    static final String VERIFY_HOST = "verify-host";
    static final String SASL = "sasl";
    static final String USERNAME = "username";
    static final String PASSWORD = "password-file";

    private static final String NONE = "none";
    private static final String PLAIN = "plain";
    private static final Pattern SERVER = Pattern.compile("([^\\s:,\\[\\]]+|\\[[0-9A-Fa-f:.]+]):\\d{1,5}");
    private static final int MOST_FILE_BYTES = 1 << 20;

    private final SinkSettings settings;
    private final String clientId;
    private final List<String> servers;

    /**
     * Checks settings, and that the files can be read. Blocks.
     *
     * @param settings the values of {@link #settings()}
     * @param clientId the name of the client in logs and quotas of the cluster
     * @throws ConfigurationException if they contradict each other
     */
    KafkaConnection(SinkSettings settings, String clientId) {
        this.settings = settings;
        this.clientId = clientId;
        this.servers = List.of(settings.text(SERVERS).strip().split("\\s*,\\s*"));
        for (String server : servers) {
            if (!SERVER.matcher(server).matches()) {
                throw settings.problem(SERVERS, "must be host:port, or several with commas between them");
            }
        }
        checkTls();
        boolean sasl = !settings.text(SASL).equals(NONE);
        for (String key : List.of(USERNAME, PASSWORD)) {
            if (sasl != settings.has(key)) {
                throw settings.problem(key, sasl ? "must be set with sasl" : "needs sasl");
            }
        }
        properties();
    }

    private void checkTls() {
        for (String key : List.of(CA, CERTIFICATE, PRIVATE_KEY, VERIFY_HOST)) {
            if (settings.has(key) && !settings.flag(TLS)) {
                throw settings.problem(key, "needs tls: true");
            }
        }
        if (settings.has(CERTIFICATE) != settings.has(PRIVATE_KEY)) {
            throw settings.problem(CERTIFICATE, "and private-key must be set together");
        }
    }

    /** The declarations of the keys. */
    static List<SinkSetting> settings() {
        return List.of(
                SinkSetting.text(
                                SERVERS,
                                null,
                                "brokers by which the cluster is found: `host:port`, several with commas between them")
                        .required(),
                SinkSetting.flag(TLS, false, "whether connections use TLS"),
                SinkSetting.file(
                        CA, "certificates of the authorities that are trusted, in PEM; without it those of Java"),
                SinkSetting.file(CERTIFICATE, "the certificate chain of this client, in PEM"),
                SinkSetting.file(PRIVATE_KEY, "its private key, in PEM (PKCS #8, not encrypted)"),
                SinkSetting.flag(VERIFY_HOST, true, "whether certificates must be for the host names of the brokers"),
                SinkSetting.choice(
                        SASL,
                        NONE,
                        List.of(NONE, PLAIN, "scram-sha-256", "scram-sha-512"),
                        "the way to log in: `none`, `plain`, `scram-sha-256` or `scram-sha-512`"),
                SinkSetting.text(USERNAME, null, "the user"),
                SinkSetting.file(PASSWORD, "a file whose first line is the password"));
    }

    /**
     * The properties of a client. Blocks.
     *
     * @return a new map
     * @throws ConfigurationException if a file cannot be read
     */
    Map<String, Object> properties() {
        Map<String, Object> properties = new HashMap<>();
        properties.put(CommonClientConfigs.BOOTSTRAP_SERVERS_CONFIG, servers);
        properties.put(CommonClientConfigs.CLIENT_ID_CONFIG, clientId);
        properties.put(CommonClientConfigs.METRIC_REPORTER_CLASSES_CONFIG, List.of());
        properties.put(CommonClientConfigs.ENABLE_METRICS_PUSH_CONFIG, false);
        boolean tls = settings.flag(TLS);
        String mechanism = settings.text(SASL);
        boolean sasl = !mechanism.equals(NONE);
        String protocol = (sasl ? "SASL_" : "") + (tls ? "SSL" : "PLAINTEXT");
        properties.put(CommonClientConfigs.SECURITY_PROTOCOL_CONFIG, protocol);
        if (tls) {
            putTls(properties);
        }
        if (sasl) {
            properties.put(SaslConfigs.SASL_MECHANISM, mechanism.toUpperCase(Locale.ROOT));
            properties.put(SaslConfigs.SASL_JAAS_CONFIG, login(mechanism));
        }
        return properties;
    }

    private void putTls(Map<String, Object> properties) {
        String authorities = pem(CA);
        if (authorities != null) {
            properties.put(SslConfigs.SSL_TRUSTSTORE_TYPE_CONFIG, "PEM");
            properties.put(SslConfigs.SSL_TRUSTSTORE_CERTIFICATES_CONFIG, authorities);
        }
        String certificate = pem(CERTIFICATE);
        String key = pem(PRIVATE_KEY);
        if (certificate != null && key != null) {
            properties.put(SslConfigs.SSL_KEYSTORE_TYPE_CONFIG, "PEM");
            properties.put(SslConfigs.SSL_KEYSTORE_CERTIFICATE_CHAIN_CONFIG, certificate);
            properties.put(SslConfigs.SSL_KEYSTORE_KEY_CONFIG, key);
        }
        properties.put(
                SslConfigs.SSL_ENDPOINT_IDENTIFICATION_ALGORITHM_CONFIG, settings.flag(VERIFY_HOST) ? "https" : "");
    }

    private @Nullable String pem(String key) {
        Path file = settings.file(key);
        if (file == null) {
            return null;
        }
        try {
            if (Files.size(file) <= MOST_FILE_BYTES) {
                String text = Files.readString(file);
                if (text.contains("-----BEGIN ")) {
                    return text;
                }
            }
        } catch (IOException e) {
            throw settings.problem(key, "is a file that cannot be read");
        }
        throw settings.problem(key, "is no file in PEM");
    }

    private String login(String mechanism) {
        String module = mechanism.equals(PLAIN)
                ? "org.apache.kafka.common.security.plain.PlainLoginModule"
                : "org.apache.kafka.common.security.scram.ScramLoginModule";
        return module + " required username=\"" + quoted(settings.text(USERNAME)) + "\" password=\""
                + quoted(String.valueOf(settings.secret(PASSWORD))) + "\";";
    }

    private static String quoted(String text) {
        return text.replace("\\", "\\\\").replace("\"", "\\\"");
    }
}
