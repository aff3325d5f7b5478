// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.validation;

import com.networknt.schema.Schema;
import io.smqtt.message.LogText;
import io.smqtt.spi.Schemas;
import io.smqtt.thread.AnyThread;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The schemas of operators, by name. */
@AnyThread
final class LiveSchemas implements Schemas {

    private static final Logger LOG = LoggerFactory.getLogger(LiveSchemas.class);

    private final Map<String, Schema> all = new ConcurrentHashMap<>();

    /** Looks up a schema; null if there is none that can be used. */
    @Nullable
    Schema find(String name) {
        return all.get(name);
    }

    @Override
    public void test(String source) {
        SchemaText.parse(source);
    }

    @Override
    public void put(String name, String source) {
        try {
            all.put(name, SchemaText.parse(source));
        } catch (IllegalArgumentException e) { // of another version of the broker
            all.remove(name);
            LOG.error(
                    "schema {} cannot be used: {}",
                    LogText.escape(name),
                    LogText.escape(String.valueOf(e.getMessage())));
        }
    }

    @Override
    public void remove(String name) {
        all.remove(name);
    }
}
