// SPDX-License-Identifier: Apache-2.0
package io.smqtt.migrate;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** One listener of mosquitto with its keys. */
final class OldListener {

    final OldSetting origin;
    private final Map<String, OldSetting> keys = new HashMap<>();
    int port;
    String host = "";
    boolean webSocket;

    OldListener(OldSetting origin, int port) {
        this.origin = origin;
        this.port = port;
    }

    void put(OldSetting setting) {
        keys.put(setting.key(), setting);
    }

    void put(String key, OldSetting setting) {
        keys.put(key, setting);
    }

    @Nullable
    OldSetting get(String key) {
        return keys.get(key);
    }

    boolean has(String key) {
        return keys.containsKey(key);
    }
}
