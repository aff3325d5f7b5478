// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import io.smqtt.config.ConfigDoc;

/**
 * Compatibility with programs written for the former smqtt: {@code smqtt.legacy.*}.
 *
 * @param managementPaths whether the management port answers its paths
 * @param eventTopics whether its topics of connects and disconnects are written
 */
record LegacyConfig(
        @ConfigDoc(
                "whether the management port serves the paths of the former smqtt below `/smqtt/`; all need the token")
        boolean managementPaths,

        @ConfigDoc(
                "whether `$event/connect` and `$event/close` are published, as by the former smqtt. Subscribers need "
                        + "a rule of the ACL file, or the role admin")
        boolean eventTopics) {

    /** Nothing of it. */
    static final LegacyConfig NONE = new LegacyConfig(false, false);
}
