// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bridge;

import io.smqtt.BrokerModule;
import io.smqtt.config.BridgeConfig;
import io.smqtt.config.BrokerConfig;
import io.smqtt.config.ConfigurationException;
import io.smqtt.spi.BridgeStatus;
import io.smqtt.spi.Bridges;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** The bridges of one broker. */
final class BridgeModule implements BrokerModule, Bridges {

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
        bridges = new TreeMap<>(configs)
                .entrySet().stream()
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
    public Bridges bridges() {
        return this;
    }

    @Override
    public List<BridgeStatus> status() {
        return bridges.stream().map(Bridge::status).toList();
    }

    @Override
    public boolean operate(String name, Operation operation) {
        for (Bridge bridge : bridges) {
            if (bridge.name().equals(name)) {
                switch (operation) {
                    case START -> bridge.start();
                    case STOP -> bridge.stop();
                    case RESTART -> bridge.restart();
                }
                return true;
            }
        }
        return false;
    }

    @Override
    public String configurationKey() {
        return "bridges";
    }
}
