// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.topic;

import com.fasterxml.jackson.databind.JsonNode;
import io.smqtt.admin.InvalidFieldException;
import io.smqtt.admin.JsonFields;
import io.smqtt.config.ValidationConfig;
import io.smqtt.config.ValidationConfig.FailureAction;
import io.smqtt.config.ValidationConfig.Strategy;
import io.smqtt.spi.PayloadChecks;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The fields of a check of payloads, with EMQX's names: sizes in bytes, times in milliseconds. */
final class CheckFields implements RuleFields<NamedCheck> {

    private static final String NAME = "name";
    private static final String TOPICS = "topics";
    private static final String STRATEGY = "strategy";
    private static final String FAILURE_ACTION = "failure_action";
    private static final String LOG_FAILURE = "log_failure";
    private static final String REDIRECT = "redirect_topic";
    private static final String PAYLOAD = "max_payload_size";
    private static final String TIMEOUT = "timeout";
    private static final String CHECKS = "checks";
    private static final String TYPE = "type";
    private static final String SQL = "sql";
    private static final String JSON = "json";
    private static final String SCHEMA = "schema";
    private static final String ALL_PASS = "all_pass";
    private static final String ANY_PASS = "any_pass";
    private static final long MOST_BYTES = 256L << 20;
    private static final long LEAST_MILLIS = 10;
    private static final long MOST_MILLIS = 20_000;
    private static final Pattern NAMES = Pattern.compile("[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}");

    private final Supplier<@Nullable PayloadChecks> present;

    /**
     * Creates the form.
     *
     * @param present the checks of this node, which test statements; none before it has started
     */
    CheckFields(Supplier<@Nullable PayloadChecks> present) {
        this.present = present;
    }

    @Override
    public String name(NamedCheck rule) {
        return rule.name();
    }

    @Override
    public String field(String key) {
        return switch (key) {
            case "schemas" -> CHECKS;
            case "max-payload-bytes" -> PAYLOAD;
            default -> RuleFields.super.field(key);
        };
    }

    @Override
    public NamedCheck read(JsonFields fields) {
        String name = fields.text(NAME);
        if (!NAMES.matcher(name).matches()) {
            throw new InvalidFieldException(
                    "the field name must have 1 to 128 letters, digits, _, . and -, and begin with none of the last two");
        }
        return new NamedCheck(name, config(fields));
    }

    @Override
    public void test(NamedCheck rule) {
        PayloadChecks checks = present.get();
        if (checks != null) {
            checks.test(rule.name(), rule.config());
        }
    }

    private static ValidationConfig config(JsonFields fields) {
        List<String> schemas = new ArrayList<>();
        String sql = "";
        for (JsonNode element : fields.elements(CHECKS)) {
            JsonFields check = new JsonFields(element);
            switch (check.text(TYPE)) {
                case JSON -> schemas.add(check.text(SCHEMA));
                case SQL -> {
                    if (!sql.isEmpty()) {
                        throw new InvalidFieldException("the field checks can have one statement");
                    }
                    sql = check.text(SQL);
                }
                default -> throw new InvalidFieldException("the field type must be json or sql");
            }
        }
        return new ValidationConfig(
                fields.texts(TOPICS),
                null,
                schemas,
                sql,
                strategy(Objects.requireNonNullElse(fields.textOrNull(STRATEGY), ALL_PASS)),
                action(Objects.requireNonNullElse(fields.textOrNull(FAILURE_ACTION), "drop")),
                Objects.requireNonNullElse(fields.textOrNull(REDIRECT), ""),
                !fields.has(LOG_FAILURE) || fields.flag(LOG_FAILURE),
                fields.has(PAYLOAD) ? fields.number(PAYLOAD, 1, MOST_BYTES) : 256 << 10,
                Duration.ofMillis(fields.has(TIMEOUT) ? fields.number(TIMEOUT, LEAST_MILLIS, MOST_MILLIS) : 1_000));
    }

    private static Strategy strategy(String text) {
        return switch (text) {
            case ALL_PASS -> Strategy.ALL;
            case ANY_PASS -> Strategy.ANY;
            default -> throw new InvalidFieldException("the field strategy must be all_pass or any_pass");
        };
    }

    private static FailureAction action(String text) {
        return switch (text) {
            case "drop" -> FailureAction.DROP;
            case "disconnect" -> FailureAction.DISCONNECT;
            case "ignore" -> FailureAction.IGNORE;
            default -> throw new InvalidFieldException("the field failure_action must be drop, disconnect or ignore");
        };
    }

    @Override
    public Map<String, Object> write(NamedCheck rule) {
        ValidationConfig config = rule.config();
        List<Map<String, String>> checks = new ArrayList<>();
        config.schemas().forEach(schema -> checks.add(check(JSON, SCHEMA, schema)));
        if (!config.sql().isEmpty()) {
            checks.add(check(SQL, SQL, config.sql()));
        }
        Map<String, Object> all = new LinkedHashMap<>();
        all.put(NAME, rule.name());
        all.put(TOPICS, config.topics());
        all.put(CHECKS, checks);
        all.put(STRATEGY, config.strategy() == Strategy.ALL ? ALL_PASS : ANY_PASS);
        all.put(FAILURE_ACTION, RuleFields.text(config.failureAction()));
        all.put(REDIRECT, config.redirectTopic());
        all.put(LOG_FAILURE, config.logFailures());
        all.put(PAYLOAD, config.maxPayloadBytes());
        all.put(TIMEOUT, config.timeout().toMillis());
        return all;
    }

    private static Map<String, String> check(String type, String field, String value) {
        Map<String, String> check = new LinkedHashMap<>();
        check.put(TYPE, type);
        check.put(field, value);
        return check;
    }
}
