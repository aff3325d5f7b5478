// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.chain;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.ReloadResult;
import io.smqtt.config.BrokerConfig;
import io.smqtt.config.ConfigBinder;
import io.smqtt.config.ConfigValue;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AccessModuleTest {

    @TempDir
    Path directory;

    private AccessModule module(String... keysAndValues) {
        Map<String, ConfigValue> values = new LinkedHashMap<>();
        for (int i = 0; i < keysAndValues.length; i += 2) {
            values.put(keysAndValues[i], new ConfigValue(keysAndValues[i + 1], "smqtt.yaml:" + (i / 2 + 1), directory));
        }
        return AccessModule.open(ConfigBinder.bind(BrokerConfig.defaults(), values));
    }

    @Test
    void filesOfAllBackendsAreReadAgain() throws IOException {
        Path one = Files.writeString(directory.resolve("one"), "x".repeat(32));
        Path two = Files.writeString(directory.resolve("two"), "x".repeat(32));
        AccessModule module = module(
                "access.chain", "a,b",
                "access.backends.a.type", "jwt",
                "access.backends.a.secret-file", one.toString(),
                "access.backends.b.type", "jwt",
                "access.backends.b.secret-file", two.toString());
        try {
            assertThat(module.reload()).isEqualTo(new ReloadResult(List.of(one.toString(), two.toString()), List.of()));

            Files.writeString(one, "short");
            ReloadResult result = module.reload();
            assertThat(result.reloaded()).containsExactly(two.toString());
            assertThat(result.failed())
                    .singleElement()
                    .asString()
                    .startsWith("smqtt.yaml:3: access.backends.a.secret-file has 5 bytes, but");
        } finally {
            module.close();
        }
    }
}
