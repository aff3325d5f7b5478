// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.sql;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** All functions of the language by their families, which are also the tables of the reference. */
final class Functions {

    /** Functions of EMQX that are not here, with the reason that a statement with one of them is refused for. */
    private static final Map<String, String> UNSUPPORTED = Map.ofEntries(
            Map.entry("jq", "jq programs are not supported; paths, CASE and FOREACH do most of it"),
            Map.entry("schema_decode", "there is no schema registry"),
            Map.entry("schema_encode", "there is no schema registry"),
            Map.entry("schema_check", "there is no schema registry"),
            Map.entry("sparkplug_decode", "Sparkplug payloads are not decoded"),
            Map.entry("sparkplug_encode", "Sparkplug payloads are not encoded"),
            Map.entry("kv_store_get", "rules have no state"),
            Map.entry("kv_store_put", "rules have no state"),
            Map.entry("kv_store_del", "rules have no state"),
            Map.entry("proc_dict_get", "rules have no state"),
            Map.entry("proc_dict_put", "rules have no state"),
            Map.entry("proc_dict_del", "rules have no state"),
            Map.entry("term_encode", "Erlang's terms are not supported; use json_encode"),
            Map.entry("term_decode", "Erlang's terms are not supported; use json_decode"),
            Map.entry("mongo_date", "there is no MongoDB sink"),
            Map.entry("sqlserver_bin2hexstr", "there is no SQL Server sink; use bin2hexstr"));

    private static final Map<String, List<Function>> FAMILIES = families();
    private static final Map<String, Function> BY_NAME = byName();

    private Functions() {}

    /** The functions of each family, in the order of the reference. */
    static Map<String, List<Function>> all() {
        return FAMILIES;
    }

    /** The function, or {@code null}. Upper and lower case are the same. */
    static @Nullable Function find(String name) {
        return BY_NAME.get(name.toLowerCase(Locale.ROOT));
    }

    /** Why there is no such function, and which one may be meant. */
    static String unknown(String name) {
        String wanted = name.toLowerCase(Locale.ROOT);
        String reason = UNSUPPORTED.get(wanted);
        if (reason != null) {
            return "the function " + wanted + " is not supported: " + reason;
        }
        String nearest = null;
        int distance = 3;
        for (String known : BY_NAME.keySet()) {
            int other = distance(wanted, known);
            if (other < distance) {
                distance = other;
                nearest = known;
            }
        }
        return "there is no function " + wanted + (nearest == null ? "" : "; did you mean " + nearest + "?");
    }

    private static Map<String, List<Function>> families() {
        Map<String, List<Function>> families = new LinkedHashMap<>();
        families.put("Numbers", MathFunctions.all());
        families.put("Types", TypeFunctions.all());
        families.put("Text", TextFunctions.all());
        families.put("Text, taken apart", SplitFunctions.all());
        families.put("Maps", MapFunctions.all());
        families.put("Arrays", ArrayFunctions.all());
        families.put("Hashes, compression, encoding", CodeFunctions.all());
        families.put("Bits and bytes", BitFunctions.all());
        families.put("Date and time", TimeFunctions.all());
        families.put("Event and topic", EventFunctions.all());
        return Collections.unmodifiableMap(families);
    }

    private static Map<String, Function> byName() {
        Map<String, Function> functions = new LinkedHashMap<>();
        for (List<Function> family : FAMILIES.values()) {
            for (Function function : family) {
                if (functions.put(function.name(), function) != null) {
                    throw new IllegalStateException("two functions " + function.name());
                }
            }
        }
        return functions;
    }

    /** The fewest letters to insert, remove or replace. */
    private static int distance(String one, String other) {
        int[] row = new int[other.length() + 1];
        for (int column = 0; column <= other.length(); column++) {
            row[column] = column;
        }
        for (int index = 1; index <= one.length(); index++) {
            int diagonal = row[0];
            row[0] = index;
            for (int column = 1; column <= other.length(); column++) {
                int replaced = diagonal + (one.charAt(index - 1) == other.charAt(column - 1) ? 0 : 1);
                diagonal = row[column];
                row[column] = Math.min(replaced, 1 + Math.min(row[column], row[column - 1]));
            }
        }
        return row[other.length()];
    }
}
