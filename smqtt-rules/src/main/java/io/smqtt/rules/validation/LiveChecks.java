// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.validation;

import com.networknt.schema.Schema;
import io.smqtt.config.ConfigurationException;
import io.smqtt.config.ValidationConfig;
import io.smqtt.message.LogText;
import io.smqtt.spi.PayloadChecks;
import io.smqtt.thread.AnyThread;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The checks in force: those of the configuration, and behind them those of operators; and the schemas of operators by name. */
@AnyThread
final class LiveChecks implements PayloadChecks {

    private static final Logger LOG = LoggerFactory.getLogger(LiveChecks.class);

    private final Map<String, Schema> schemas = new ConcurrentHashMap<>();
    private final List<PayloadCheck> fixed = new ArrayList<>();
    private volatile List<PayloadCheck> all = List.of();

    /** Adds a check of the configuration. Before clients connect. */
    void add(PayloadCheck check) {
        fixed.add(check);
        all = List.copyOf(fixed);
    }

    /** The checks in force, in their order. */
    List<PayloadCheck> all() {
        return all;
    }

    /** The checks of the configuration. */
    List<PayloadCheck> fixed() {
        return fixed;
    }

    /** Looks up a schema; null if there is none that can be used. */
    @Nullable
    Schema schema(String name) {
        return schemas.get(name);
    }

    @Override
    public void testSchema(String source) {
        SchemaText.parse(source);
    }

    @Override
    public void putSchema(String name, String source) {
        try {
            schemas.put(name, SchemaText.parse(source));
        } catch (IllegalArgumentException e) { // of another version of the broker
            schemas.remove(name);
            LOG.error(
                    "schema {} cannot be used: {}",
                    LogText.escape(name),
                    LogText.escape(String.valueOf(e.getMessage())));
        }
    }

    @Override
    public void removeSchema(String name) {
        schemas.remove(name);
    }

    @Override
    public void test(String name, ValidationConfig check) {
        new PayloadCheck(name, check, this);
    }

    @Override
    public synchronized void replace(Map<String, ValidationConfig> checks) {
        List<PayloadCheck> joined = new ArrayList<>(fixed);
        checks.forEach((name, check) -> {
            try {
                joined.add(new PayloadCheck(name, check, this));
            } catch (ConfigurationException e) { // of another version of the broker
                LOG.error("a check of payloads cannot be used: {}", LogText.escape(String.valueOf(e.getMessage())));
            }
        });
        all = List.copyOf(joined);
    }
}
