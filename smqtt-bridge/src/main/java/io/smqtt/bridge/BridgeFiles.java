// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bridge;

import io.smqtt.config.BridgeAddress;
import io.smqtt.config.BridgeConfig;
import io.smqtt.config.BridgeTlsConfig;
import io.smqtt.config.ConfigurationException;
import io.smqtt.thread.AnyThread;
import io.smqtt.transport.ClientTls;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Password and certificates of one bridge, as they were read last. Creation and reload block. */
@AnyThread
final class BridgeFiles {

    private final String key;
    private final @Nullable Path passwordFile;
    private final @Nullable ClientTls tls;
    private volatile byte @Nullable [] password;

    BridgeFiles(String name, BridgeConfig config) {
        this.key = "bridges." + name;
        this.passwordFile = config.passwordFile();
        this.password = readPassword();
        boolean used = config.tls() != null || config.parsedAddresses().stream().anyMatch(BridgeAddress::tls);
        this.tls = used ? new ClientTls(key + ".tls", orDefaults(config.tls())) : null;
    }

    private static BridgeTlsConfig orDefaults(@Nullable BridgeTlsConfig config) {
        return config == null ? BridgeTlsConfig.builder().build() : config;
    }

    private byte @Nullable [] readPassword() {
        if (passwordFile == null) {
            return null;
        }
        try {
            String text = Files.readString(passwordFile);
            return text.lines().findFirst().orElse("").getBytes(StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new ConfigurationException(key + ".password-file", "cannot be read: " + passwordFile);
        }
    }

    byte @Nullable [] password() {
        return password;
    }

    /** Null if no address uses TLS. */
    @Nullable
    ClientTls tls() {
        return tls;
    }

    /** Reads the files again for later connections; throws a ConfigurationException if one cannot be used. */
    List<String> reload() {
        List<String> names = new ArrayList<>();
        if (passwordFile != null) {
            password = readPassword();
            names.add(passwordFile.toString());
        }
        if (tls != null) {
            tls.reload().map(Path::toString).forEach(names::add);
        }
        return names;
    }
}
