// SPDX-License-Identifier: Apache-2.0
package io.smqtt.codec;

import java.util.List;

/**
 * An UNSUBSCRIBE (MQTT 5.0, section 3.10).
 *
 * @param packetId 1 to 65,535
 * @param filters at least one, as sent: strict UTF-8, otherwise not yet validated
 */
public record UnsubscribePacket(int packetId, List<String> filters) {}
