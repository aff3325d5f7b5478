// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.validation;

import com.networknt.schema.Schema;
import io.smqtt.config.ConfigurationException;
import io.smqtt.config.ValidationConfig;
import io.smqtt.thread.AnyThread;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;

/** Reads the JSON Schemas of a check from its folder. */
@AnyThread
final class SchemaFiles {

    private SchemaFiles() {}

    /**
     * Reads the schemas of a check. Blocks.
     *
     * @return by name; empty without a folder
     * @throws ConfigurationException if one cannot be used
     */
    static Map<String, Schema> read(String name, ValidationConfig config) {
        Path folder = config.folder();
        Map<String, Schema> all = new LinkedHashMap<>();
        if (folder != null) {
            for (String file : config.schemas()) {
                all.put(file, read(name, folder.resolve(file)));
            }
        }
        return Map.copyOf(all);
    }

    private static Schema read(String name, Path file) {
        String key = "validations." + name + ".schemas";
        try {
            return SchemaText.parse(Files.readString(file));
        } catch (IOException e) {
            throw new ConfigurationException(
                    key, file + " cannot be read: " + e.getClass().getSimpleName());
        } catch (IllegalArgumentException e) {
            throw new ConfigurationException(key, file + " cannot be used: " + e.getMessage());
        }
    }
}
