// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.sink;

import io.smqtt.config.SourceConfig;

/**
 * The source that is made.
 *
 * @param name its name in the configuration
 * @param config the keys that all sources have
 * @param settings the keys of the type
 */
public record SourceContext(String name, SourceConfig config, SinkSettings settings) {}
