// SPDX-License-Identifier: Apache-2.0
package io.smqtt.metric;

import io.smqtt.config.ConfigurationException;
import io.smqtt.config.ManagementConfig;
import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import org.jspecify.annotations.Nullable;

/** Who may ask. Any thread. */
final class ManagementToken {

    private static final int MIN_LENGTH = 16;
    private static final int MAX_LENGTH = 4_096;
    private static final String SCHEME = "Bearer ";

    private final byte @Nullable [] token;

    private ManagementToken(byte @Nullable [] token) {
        this.token = token;
    }

    /** Reads the token. Blocks. Refuses to serve anybody but this machine without one. */
    static ManagementToken of(ManagementConfig config) {
        Path file = config.tokenFile();
        if (file != null) {
            return new ManagementToken(read(file));
        }
        if (!isLoopback(config.host())) {
            throw new ConfigurationException(
                    "management.token-file",
                    "must be set, because management.host is " + config.host() + ", which is not a loopback address");
        }
        return new ManagementToken(null);
    }

    private static boolean isLoopback(String host) {
        try {
            return InetAddress.getByName(host).isLoopbackAddress();
        } catch (UnknownHostException e) {
            return false;
        }
    }

    private static byte[] read(Path file) {
        String text;
        try {
            text = Files.readString(file, StandardCharsets.UTF_8).strip();
        } catch (IOException e) {
            throw new ConfigurationException("management.token-file", "names a file that cannot be read: " + file);
        }
        boolean plain = text.length() >= MIN_LENGTH
                && text.length() <= MAX_LENGTH
                && text.chars().allMatch(c -> c > ' ' && c < 0x7f);
        if (!plain) {
            throw new ConfigurationException(
                    "management.token-file",
                    "must hold one line of " + MIN_LENGTH + " to " + MAX_LENGTH
                            + " visible ASCII characters, but does not: " + file);
        }
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /** Whether everybody who reaches the port may ask. */
    boolean isOpen() {
        return token == null;
    }

    /** Compares in a time that does not tell how much was right. */
    boolean accepts(@Nullable String authorization) {
        byte[] expected = token;
        if (expected == null) {
            return true;
        }
        if (authorization == null || !authorization.regionMatches(true, 0, SCHEME, 0, SCHEME.length())) {
            return false;
        }
        byte[] given = authorization.substring(SCHEME.length()).strip().getBytes(StandardCharsets.UTF_8);
        return MessageDigest.isEqual(expected, given);
    }
}
