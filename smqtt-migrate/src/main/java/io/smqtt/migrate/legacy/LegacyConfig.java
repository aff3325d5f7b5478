// SPDX-License-Identifier: Apache-2.0
package io.smqtt.migrate.legacy;

import io.smqtt.config.ConfigBlock;
import io.smqtt.config.ConfigSchema;
import io.smqtt.config.Setting;

/**
 * Compatibility with programs written for the former smqtt: {@code smqtt.legacy.*}. Immutable.
 *
 * @param managementPaths whether the management port serves the paths of the former smqtt below {@code /smqtt/};
 *     all need the token
 * @param eventTopics whether {@code $event/connect} and {@code $event/close} are published, as by the former smqtt.
 *     Subscribers need a rule of the ACL file, or the role admin
 */
@ConfigBlock("legacy")
public record LegacyConfig(
        @Setting("false") boolean managementPaths,
        @Setting("false") boolean eventTopics) {

    /** The defaults: neither. */
    public static final LegacyConfig NONE = ConfigSchema.defaults(LegacyConfig.class);
}
