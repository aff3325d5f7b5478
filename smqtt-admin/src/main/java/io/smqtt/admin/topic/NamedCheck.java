// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.topic;

import io.smqtt.config.ValidationConfig;

/**
 * A check of payloads.
 *
 * @param name by which its results are counted
 * @param config what is checked, and what becomes of messages that are not valid
 */
record NamedCheck(String name, ValidationConfig config) {}
