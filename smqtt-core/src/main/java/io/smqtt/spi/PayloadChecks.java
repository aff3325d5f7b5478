// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

import io.smqtt.config.ConfigurationException;
import io.smqtt.config.ValidationConfig;
import io.smqtt.thread.AnyThread;
import java.util.Map;

/** The part of payload checks that operators change while the broker runs: JSON Schemas, which checks find by their names, and the checks themselves. */
@AnyThread
public interface PayloadChecks {

    /**
     * Tests a schema. Takes time for a large one: not for event loops.
     *
     * @param source the JSON Schema
     * @throws IllegalArgumentException if it cannot be used; the message says why
     */
    void testSchema(String source);

    /**
     * Adds or replaces a schema. One that cannot be used takes the place of the former one nevertheless: until the next change no payload is valid by it.
     *
     * @param name its name
     * @param source the JSON Schema
     */
    void putSchema(String name, String source);

    /**
     * Removes a schema. No payload is valid by a schema that is missing.
     *
     * @param name its name
     */
    void removeSchema(String name);

    /**
     * Tests a check. Takes time for a long statement: not for event loops.
     *
     * @param name its name
     * @param check the check, without a folder
     * @throws ConfigurationException if it cannot be used
     */
    void test(String name, ValidationConfig check);

    /**
     * Replaces the checks of operators, which follow those of the configuration; for messages that are accepted from now on. One that cannot be used is left
     * out, and logged.
     *
     * @param checks the checks by name, in their order, without folders
     */
    void replace(Map<String, ValidationConfig> checks);
}
