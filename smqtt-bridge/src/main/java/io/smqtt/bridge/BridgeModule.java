// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bridge;

import io.smqtt.BrokerModule;
import io.smqtt.config.BridgeConfig;
import io.smqtt.config.BrokerConfig;
import io.smqtt.config.ConfigurationException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** The bridges of one broker. */
final class BridgeModule implements BrokerModule {

    private final Map<String, BridgeConfig> configs;
    private final Map<String, byte[]> passwords;
    private volatile List<Bridge> bridges = List.of();

    private BridgeModule(Map<String, BridgeConfig> configs, Map<String, byte[]> passwords) {
        this.configs = configs;
        this.passwords = passwords;
    }

    /** Reads the password files. Blocks. */
    static BridgeModule of(BrokerConfig config) {
        Map<String, byte[]> passwords = new LinkedHashMap<>();
        config.bridges().forEach((name, bridge) -> {
            byte[] password = password(name, bridge);
            if (password != null) {
                passwords.put(name, password);
            }
        });
        return new BridgeModule(config.bridges(), passwords);
    }

    private static byte @Nullable [] password(String name, BridgeConfig bridge) {
        if (bridge.passwordFile() == null) {
            return null;
        }
        try {
            String text = Files.readString(bridge.passwordFile());
            return text.lines().findFirst().orElse("").getBytes(StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new ConfigurationException(
                    "bridges." + name + ".password-file", "cannot be read: " + bridge.passwordFile());
        }
    }

    @Override
    public Mono<Void> start(Core core) {
        bridges = configs.entrySet().stream()
                .map(entry -> new Bridge(entry.getKey(), entry.getValue(), passwords.get(entry.getKey()), core))
                .toList();
        return Mono.empty();
    }

    @Override
    public void listening() {
        bridges.forEach(Bridge::start);
    }

    @Override
    public void draining() {
        bridges.forEach(Bridge::drain);
    }

    @Override
    public Mono<Void> stop() {
        bridges.forEach(Bridge::stop);
        return Mono.empty();
    }

    @Override
    public String configurationKey() {
        return "bridges";
    }
}
