# frozen_string_literal: true

module AceMQ
  module Core
    # The version of this gem.
    VERSION = "0.1.0"
  end
end
