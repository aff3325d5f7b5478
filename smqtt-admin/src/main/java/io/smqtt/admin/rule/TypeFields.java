// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.rule;

import io.smqtt.admin.api.ApiAnswer;
import io.smqtt.admin.api.ApiRequest;
import io.smqtt.admin.api.Problem;
import io.smqtt.config.ConfigurationException;
import io.smqtt.spi.ActionType;
import io.smqtt.thread.AnyThread;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Supplier;
import reactor.core.publisher.Mono;

/** The declarations of types of actions and of sources as fields, and the answer of a probe of what does not exist yet. */
@AnyThread
final class TypeFields {

    /** The name of the path's part with the type. */
    static final String TYPE = "type";

    private TypeFields() {}

    /** The names of the types. */
    static Mono<ApiAnswer> list(Supplier<List<ActionType>> types) {
        return Mono.fromSupplier(
                () -> ApiAnswer.json(types.get().stream().map(ActionType::name).toList()));
    }

    /**
     * One type with its keys.
     *
     * @param kind what has the type, in the plural
     */
    static Mono<ApiAnswer> show(ApiRequest request, Supplier<List<ActionType>> types, String kind) {
        return Mono.fromSupplier(() -> types.get().stream()
                .filter(type -> type.name().equals(request.path(TYPE)))
                .findFirst()
                .map(type -> ApiAnswer.json(fields(type)))
                .orElseThrow(
                        () -> Problem.notFound("there is no such type of " + kind + "; others need their extension")
                                .exception()));
    }

    private static Map<String, Object> fields(ActionType type) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("name", type.name());
        fields.put("keys", type.keys().stream().map(TypeFields::fields).toList());
        fields.put(
                "common_keys",
                type.commonKeys().stream().map(TypeFields::fields).toList());
        return fields;
    }

    private static Map<String, Object> fields(ActionType.Key key) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("name", key.name());
        fields.put(TYPE, key.form().name().toLowerCase(Locale.ROOT));
        if (key.value() != null) {
            fields.put("default", key.value());
        }
        if (!key.min().isEmpty()) {
            fields.put("minimum", key.min());
            fields.put("maximum", key.max());
        }
        if (!key.choices().isEmpty()) {
            fields.put("enum", key.choices());
        }
        fields.put("required", key.isRequired());
        fields.put("secret", key.isSecret());
        fields.put("description", key.text());
        return fields;
    }

    /** As EMQX answers: 204, or 400 with the code TEST_FAILED. */
    static Mono<ApiAnswer> probed(Mono<String> probe) {
        return probe.onErrorMap(
                        ConfigurationException.class,
                        error -> Problem.badRequest(String.join("; ", error.problems()))
                                .exception())
                .map(reason ->
                        reason.isEmpty() ? ApiAnswer.noContent() : new Problem(400, "TEST_FAILED", reason).answer());
    }
}
