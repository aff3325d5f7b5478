// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.topic;

import io.smqtt.admin.JsonFields;
import io.smqtt.config.RetainedPolicyConfig;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

/** The fields of a rule for retained messages: a payload in bytes, an expiry in seconds, 0 for none. */
final class RetainedPolicyFields implements RuleFields<RetainedPolicyConfig> {

    private static final String TOPIC = "topic";
    private static final String PAYLOAD = "max_payload_size";
    private static final String EXPIRY = "msg_expiry_interval";
    private static final long MOST_BYTES = 256L << 20;
    private static final long MOST_SECONDS = 42_949_669;

    @Override
    public RetainedPolicyConfig read(JsonFields fields) {
        return new RetainedPolicyConfig(
                fields.text(TOPIC),
                fields.has(PAYLOAD) ? fields.number(PAYLOAD, 0, MOST_BYTES) : MOST_BYTES,
                Duration.ofSeconds(fields.has(EXPIRY) ? fields.number(EXPIRY, 0, MOST_SECONDS) : 0));
    }

    @Override
    public Map<String, Object> write(RetainedPolicyConfig rule) {
        Map<String, Object> all = new LinkedHashMap<>();
        all.put(TOPIC, rule.topic());
        all.put(PAYLOAD, rule.maxPayloadBytes());
        all.put(EXPIRY, rule.expiry().toSeconds());
        return all;
    }
}
